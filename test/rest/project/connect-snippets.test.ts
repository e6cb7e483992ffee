import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  editorLibraries,
  type Language,
  languages,
  snippetsFor,
} from '../../../src/console/connect/snippets.ts'
import { RawClient } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const address = { organizationId: "o'hara & co", documentId: 'a "plan"\\', editorId: 'main' }
const name = 'o%27hara%20%26%20co/a%20%22plan%22%5C/main'

let server: TestServer
const folder = mkdtempSync(join(tmpdir(), 'weft-snippets-'))
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
})

const commands: Readonly<Record<Language, readonly [string, string]>> = {
  curl: ['sh', 'call.sh'],
  node: [process.execPath, 'call.mjs'],
  python: ['python3', 'call.py'],
}

/** Runs the code with the credentials in its environment. Returns its output. */
async function run(language: Language, code: string): Promise<string> {
  const [command, file] = commands[language]
  writeFileSync(join(folder, file), code)
  const { apiKey, authToken } = server.credentials
  const child = spawn(command, [file], {
    cwd: folder,
    env: { ...process.env, KEY: apiKey, TOKEN: authToken },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      output += data.toString()
    })
  const status = await new Promise((resolve) => child.on('close', resolve))
  expect([status, output]).toEqual([0, output])
  return output
}

/** Python is not needed for anything else here, so a machine may lack it. */
const hasPython = spawnSync('python3', ['--version']).status === 0

describe.each(languages.filter(([language]) => language !== 'python' || hasPython))('%s', (language) => {
  it('[CON-69] has requests that run without changes: a token that connects, and content of each editor', async () => {
    const { token } = snippetsFor(server.url, address, { library: 'tiptap', language })
    const [jwt = ''] = /eyJ[\w.-]+/.exec(await run(language, token)) ?? []
    for (const [library] of editorLibraries) {
      const own = { ...address, editorId: `${language}-${library}` }
      await run(language, snippetsFor(server.url, own, { library, language }).write)
      const read = dataOf(await server.post('/v2/crdt/get', own))
      expect(JSON.stringify(read)).toContain('Written by a backend.')
    }
    const path = encodeURI(`${language}-tiptap`)
    const client = await RawClient.connect(`${server.wsUrl}/sync/${name.replace('main', path)}?token=${jwt}`)
    await client.roundTrip()
    client.end()
  })
})

it('[CON-69] has code without secrets for each editor library, with the addresses of the server and the editor', async () => {
  for (const [library] of editorLibraries) {
    const { editor } = snippetsFor('https://weft.example.com/', address, { library, language: 'node' })
    const { code } = await transform(editor, { loader: 'js', format: 'esm' })
    const path = editor.includes('Hocuspocus') ? 'hocuspocus' : 'sync'
    expect(code).toContain(`"wss://weft.example.com/${path}"`)
    expect(editor).toContain(name.replaceAll('%27', "'").replaceAll("'", "\\'"))
    expect(editor).toMatch(/^\s+(params: \{ token \}|token),$/m)
  }
})
