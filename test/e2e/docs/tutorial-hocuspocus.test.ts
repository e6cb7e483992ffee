import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { hocuspocusVisitor } from '../../support/clients/hocuspocus-client.ts'
import { runSamples, samplesOf } from '../../support/data/docs-samples.ts'
import {
  hocuspocusMissing,
  type OldServerProcess,
  peersNode,
  startHocuspocus,
} from '../../support/servers/legacy-servers.ts'
import { freePort, type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { isEverythingAsked } from '../../support/time/full-run.ts'

if (hocuspocusMissing) console.log('skipped: Hocuspocus is not installed (npm ci --prefix bench/peers)')

const run = promisify(execFile)
/** The credentials of `startProcess`. */
const credentials = {
  workspaceId: 'test',
  workspaceAuthToken: 'test-workspace-token',
  apiKey: 'test-key',
  authToken: 'test-auth-token-1234',
  jwtSecret: 'a secret of thirty-two bytes, or more',
}
/** Names at the old server. */
const names = ['acme/plan/main', 'my room/ä', 'rich text']

describe.skipIf(hocuspocusMissing || !isEverythingAsked)('the tutorial for Hocuspocus', () => {
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

  it('[GUIDE-12] moves documents to Weft with the printed commands, and later edits back', async () => {
    for (const name of names) await type(old.url, name, `Typed in ${name}.`)
    await old.end('SIGTERM')
    copyFileSync(join(folder, 'old', 'hocuspocus.sqlite'), join(folder, 'old.sqlite'))

    const [weftPort, oldPort] = [await freePort(), await freePort()]
    const samples = samplesOf('src/docs/tutorial-hocuspocus.md').filter(
      ({ language, note }) => (language === 'sh' && note === '') || note === 'way-back.mjs',
    )
    const addresses = { 'localhost:8787': `127.0.0.1:${weftPort}`, 'localhost:1234': `127.0.0.1:${oldPort}` }
    const printed = await runSamples(samples, folder, addresses, {})
    expect(printed.join('')).toContain('3 of 3 documents are in the store')
    expect(printed.join('')).toContain('Typed in acme/plan/main.')

    weft = await startProcess(join(folder, 'data'), {}, weftPort)
    const token = await weft.token()
    const url = `${weft.wsUrl}/hocuspocus`
    for (const name of ['my room/ä', 'rich text'])
      await serves(url, `acme/${encodeURIComponent(name)}/main`, `Typed in ${name}.`, token)
    await type(url, 'acme/rich%20text/main', ' Typed at Weft.', token)

    old = await startHocuspocus(join(folder, 'old'), oldPort)
    const { apiKey: KEY, authToken: TOKEN } = credentials
    const { stdout } = await run(peersNode, ['way-back.mjs'], { cwd: folder, env: { KEY, TOKEN } })
    expect(stdout).toContain('rich text: the old server has it')
    await serves(old.url, 'rich text', 'Typed in rich text.')
    await serves(old.url, 'rich text', ' Typed at Weft.')
  }, 120_000)
})
