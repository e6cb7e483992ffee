import { expect, it } from 'vitest'
import { formatImport } from '../../../src/cli/import.ts'

it('[MOVE-5] prints the first ten addresses of a dry run, and refers to the JSON output for the others', () => {
  const mapping = Array.from({ length: 12 }, (_, index) => ({
    name: `room ${index}`,
    organizationId: 'acme',
    documentId: `room ${index}`,
    editorId: 'main',
  }))
  const done = { documents: 12, made: 12, added: 0, there: 0, bytes: 24, problems: [], unknown: [], mapping }
  const lines = formatImport(done, 'look').split('\n')
  expect(lines).toHaveLength(12)
  expect(lines.slice(9, 11)).toEqual(['"room 9" → acme/room%209/main', '… and 2 more: see --json'])
})
