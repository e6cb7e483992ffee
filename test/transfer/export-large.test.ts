import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import * as Y from 'yjs'
import { ExportDirectory, writeDocument } from '../../src/capabilities/transfer/export/document-files.ts'
import { itLong } from '../support/time/full-run.ts'

const address = {
  workspaceId: 'workspace',
  apiKey: 'key',
  organizationId: 'acme',
  documentId: 'plan',
  editorId: 'main',
}

itLong('[OUT-1] exports only the update and the text of a document that is too large for JSON', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'weft-export-'))
  try {
    // Each character takes six characters in JSON, in content and delta.
    const doc = new Y.Doc()
    doc.getText('t').insert(0, '\u0001'.repeat(46_000_000))
    const tree = await ExportDirectory.begin(join(directory, 'out'))
    const { files, bytes } = await writeDocument(tree, address, Y.encodeStateAsUpdate(doc), 'xml')
    expect(files.map(({ is }) => is)).toEqual(['update', 'text'])
    expect(bytes).toBeGreaterThan(2 * 46_000_000)
    await tree.name()
    expect(await readdir(join(directory, 'out', 'documents'))).toHaveLength(1)
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 20 })
  }
})
