import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sqlite from 'node-sqlite3-wasm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually } from '../../support/clients/clients.ts'
import { hocuspocusVisitor } from '../../support/clients/hocuspocus-client.ts'
import { runSamples, samplesOf } from '../../support/data/docs-samples.ts'
import { root } from '../../support/data/project-files.ts'
import { type OldServerProcess, peersNode, startHocuspocus } from '../../support/servers/legacy-servers.ts'
import { freePort, type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { isEverythingAsked } from '../../support/time/full-run.ts'

const run = promisify(execFile)
/** The credentials of `startProcess`. */
const credentials = {
  workspaceId: 'test',
  workspaceAuthToken: 'test-workspace-token',
  apiKey: 'test-key',
  authToken: 'test-auth-token-1234',
  jwtSecret: 'a secret of thirty-two bytes, or more',
}
/** Names at the old server, and their addresses in Weft. There are more than a dry run prints as text. */
const addresses = new Map([
  ['acme/plan/main', 'acme/plan/main'],
  ['acme/plan/notes', 'acme/plan/notes'],
  ['other/doc/ed', 'other/doc/ed'],
  ['acme/r%C3%A9sum%C3%A9/main', 'acme/r%C3%A9sum%C3%A9/main'],
  ['team/plan', 'acme/team%2Fplan/main'],
  ['a/b/c/d', 'acme/a%2Fb%2Fc%2Fd/main'],
  ['my room/ä', 'acme/my%20room%2F%C3%A4/main'],
  ['rich text', 'acme/rich%20text/main'],
  ...['one', 'two', 'three', 'four'].map((name) => [name, `acme/${name}/main`] as const),
])
/** A document that is deleted in Weft: its name at the old server and its id in Weft. */
const draft = 'draft'
/** A document that is created in Weft, with the name in the example of the program. */
const created = { name: 'new', address: 'acme/new/main' }

describe.skipIf(!isEverythingAsked)('the migration from Hocuspocus', () => {
  let folder: string
  let old: OldServerProcess
  let weft: ServerProcess | undefined
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weft-moved-'))
    mkdirSync(join(folder, 'old'))
    const stopped = await startTestServer({ engine: 'level', dataDir: join(folder, 'data'), ...credentials })
    await stopped.stop()
    writeFileSync(join(folder, 'data', 'credentials.json'), JSON.stringify(credentials))
    old = await startHocuspocus(join(folder, 'old'))
  }, 60_000)
  afterAll(async () => {
    await weft?.end('SIGTERM')
    await old?.end()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  })

  /** Resolves when the text of a document at a server contains `words`. */
  async function serves(url: string, name: string, words: string, token = ''): Promise<void> {
    const reader = hocuspocusVisitor(url, name, token)
    await eventually(
      () => reader.text.toString().includes(words),
      () => reader.text.toString(),
    )
    reader.close()
  }

  /** Inserts words at the end of a document. Resolves when its server has them. */
  async function type(url: string, name: string, words: string, token = ''): Promise<void> {
    const writer = hocuspocusVisitor(url, name, token)
    writer.text.insert(writer.text.length, words)
    await serves(url, name, words, token)
    writer.close()
  }

  /** Runs the program of the example that brings the edits back. */
  async function rollBack(): Promise<{ readonly code: number; readonly out: string }> {
    const { apiKey: KEY, authToken: TOKEN } = credentials
    try {
      const { stdout } = await run(peersNode, ['roll-back.mjs'], { cwd: folder, env: { KEY, TOKEN } })
      return { code: 0, out: stdout }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { code, out: stdout + stderr }
    }
  }

  /** Returns the texts in the database of the old server, by name. */
  function storedTexts(): ReadonlyMap<string, string> {
    const database = new sqlite.Database(join(folder, 'old', 'hocuspocus.sqlite'), { readOnly: true })
    const rows = database.all('SELECT name, data FROM documents')
    database.close()
    return new Map(
      rows.map(({ name, data }) => {
        const doc = new Y.Doc()
        Y.applyUpdate(doc, data as Uint8Array)
        return [name as string, doc.getText('content').toString()]
      }),
    )
  }

  it('[GUIDE-12] the printed commands move documents from Hocuspocus to Weft, and edits made in Weft back to the same documents', async () => {
    const names = [...addresses.keys()]
    for (const name of [...names, draft]) await type(old.url, name, `Typed in ${name}.`)
    await old.end('SIGTERM')
    copyFileSync(join(folder, 'old', 'hocuspocus.sqlite'), join(folder, 'old.sqlite'))

    const [weftPort, oldPort] = [await freePort(), await freePort()]
    const steps = ['Dry run', 'Switch', 'Roll back']
    const samples = samplesOf('src/docs/migration.md').filter(
      ({ heading, language, note }) => steps.includes(heading) && language === 'sh' && note === '',
    )
    const servers = { 'localhost:8787': `127.0.0.1:${weftPort}`, 'localhost:1234': `127.0.0.1:${oldPort}` }
    const printed = await runSamples(samples, folder, servers, {})
    const example = readFileSync(join(root, 'examples/migrate-hocuspocus/roll-back.mjs'), 'utf8')
    writeFileSync(
      join(folder, 'roll-back.mjs'),
      Object.entries(servers).reduce((text, [from, to]) => text.replaceAll(from, to), example),
    )
    expect(printed.join('')).toContain('13 of 13 documents are in the store')
    expect(printed.join('')).toContain('Typed in acme/plan/main.')

    weft = await startProcess(join(folder, 'data'), {}, weftPort)
    const token = await weft.token()
    const url = `${weft.wsUrl}/hocuspocus`
    for (const [name, address] of addresses) {
      await serves(url, address, `Typed in ${name}.`, token)
      await type(url, address, `Later in ${name}.`, token)
    }
    await type(url, created.address, 'Made in Weft.', token)
    const deleted = { organizationId: 'acme', documentIds: [draft] }
    expect((await weft.post('/v2/organizations/documents/delete', deleted)).status).toBe(200)

    old = await startHocuspocus(join(folder, 'old'), oldPort)
    const first = await rollBack()
    expect(first).toMatchObject({ code: 1, out: expect.stringContaining(`${created.address}: not sent`) })
    expect(first.out).toContain(`${draft}: Weft has no content`)
    for (const name of names) expect(first.out).toContain(`${name}: the old server has it`)
    const program = join(folder, 'roll-back.mjs')
    writeFileSync(program, readFileSync(program, 'utf8').replace('// { name:', '{ name:'))
    expect(await rollBack()).toMatchObject({ code: 0 })
    await old.end('SIGTERM')

    const stored = storedTexts()
    expect([...stored.keys()].sort()).toEqual([...names, draft, created.name].sort())
    for (const name of names) {
      expect(stored.get(name)).toContain(`Typed in ${name}.`)
      expect(stored.get(name)).toContain(`Later in ${name}.`)
    }
    expect(stored.get(draft)).toBe(`Typed in ${draft}.`)
    expect(stored.get(created.name)).toBe('Made in Weft.')
  }, 240_000)
})
