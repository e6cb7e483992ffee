import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Plugin, transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Language, languages } from '../../../src/console/connect/rest-call-code.ts'
import { editorLibraries, libraryOf, snippetsFor } from '../../../src/console/connect/snippets.ts'
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

/** The program of each language, and the ending of its files. */
const commands: Readonly<Record<Language, readonly [string, string]>> = {
  curl: ['sh', 'sh'],
  node: [process.execPath, 'mjs'],
  python: ['python3', 'py'],
}
let files = 0

/** Runs the code with the credentials in its environment. Returns its output. */
async function run(language: Language, code: string): Promise<string> {
  const [command, ending] = commands[language]
  files += 1
  const file = `call${files}.${ending}`
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
  it('[CON-69] the snippets run without changes: one creates a token that connects, the others write content for each editor library', async () => {
    const { token } = snippetsFor(server.url, address, { library: 'tiptap', language })
    const [jwt = ''] = /eyJ[\w.-]+/.exec(await run(language, token)) ?? []
    const written = editorLibraries.map(async ([library]) => {
      const own = { ...address, editorId: `${language}-${library}` }
      await run(language, snippetsFor(server.url, own, { library, language }).write)
      const read = dataOf(await server.post('/v2/crdt/get', own))
      expect(JSON.stringify(read)).toContain('Written by a backend.')
    })
    await Promise.all(written)
    const path = encodeURI(`${language}-tiptap`)
    const client = await RawClient.connect(`${server.wsUrl}/sync/${name.replace('main', path)}?token=${jwt}`)
    await client.roundTrip()
    client.end()
  })
})

it('[CON-69] the write request of an editor with content fits its kind and keeps the content', async () => {
  const kinds = [
    ['text', 'content', 'Before.', 'y-websocket', 'getText'],
    ['xml', 'default', '<paragraph>Before.</paragraph>', 'tiptap', 'Collaboration'],
    ['xml', 'notes', '<paragraph>Before.</paragraph>', 'y-websocket', "getXmlFragment('notes')"],
    ['map', 'settings', { first: 'Before.' }, 'y-websocket', "getMap('settings')"],
    ['array', 'list', ['Before.'], 'y-websocket', "getArray('list')"],
  ] as const
  for (const [type, contentKey, data, expected, code] of kinds) {
    const own = { ...address, editorId: `with ${type} ${contentKey}` }
    dataOf(await server.post('/v2/crdt/add', { ...own, type, contentKey, data }))
    const library = libraryOf({ type, contentKey })
    expect(library).toBe(expected)
    const chosen = { library, language: 'node' } as const
    const { editor, write } = snippetsFor(server.url, own, chosen, { type, contentKey })
    expect(editor).toContain(code)
    await run('node', write)
    const read = JSON.stringify(dataOf(await server.post('/v2/crdt/get', own)))
    expect(read).toContain('Before.')
    expect(read).toContain('by a backend')
  }
})

it('[CON-69] the snippet of each editor library contains the addresses of the server and the editor, and no secret', async () => {
  for (const [library] of editorLibraries) {
    const { editor } = snippetsFor('https://weft.example.com/', address, { library, language: 'node' })
    const { code } = await transform(editor, { loader: 'jsx', format: 'esm' })
    const path = editor.includes('Hocuspocus') ? 'hocuspocus' : 'sync'
    expect(code).toContain(`"wss://weft.example.com/${path}"`)
    expect(editor).toContain(name.replaceAll('%27', "'").replaceAll("'", "\\'"))
    expect(editor).toMatch(/^\s+(params: \{ token \}|token),$/m)
  }
})

const root = join(import.meta.dirname, '../../..')
const installed = ['', 'test/interop', 'examples/tiptap', 'examples/codemirror', 'examples/quill']
const nodePaths = installed.map((place) => join(root, place, 'node_modules'))

/** Returns the name of the package of an import such as `@lexical/react/LexicalComposer`. */
const packageOf = (path: string): string => path.split('/', path.startsWith('@') ? 2 : 1).join('/')

/** Bundles only the files that the code imports. Leaves out what they import, and packages that are not installed. */
const directImports = (found: Set<string>): Plugin => ({
  name: 'direct-imports',
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, async ({ path, importer, kind, pluginData }) => {
      if (pluginData === 'resolving' || kind === 'entry-point') return undefined
      if (!importer.endsWith('<stdin>')) return { path, external: true }
      const options = { kind, resolveDir: root, pluginData: 'resolving' }
      const resolved = await bundler.resolve(path, options)
      if (resolved.errors.length > 0) return { path, external: true }
      found.add(packageOf(path))
      return { path: resolved.path }
    })
  },
})

it('[CON-69] each snippet imports only packages that its install command installs, and only names that they export', async () => {
  const found = new Set<string>()
  for (const [library] of editorLibraries) {
    const { editor, install } = snippetsFor(server.url, address, { library, language: 'node' })
    const named = install.split(' ').slice(2)
    const imported = [...editor.matchAll(/^import (?:.* from )?'(.+)'$/gm)].map(([, path = '']) =>
      packageOf(path),
    )
    expect(imported.length).toBeGreaterThan(1)
    expect(imported.filter((name) => !named.some((each) => each.replace(/(?<=.)@.*$/, '') === name))).toEqual(
      [],
    )
    const { warnings } = await build({
      stdin: { contents: editor, loader: 'jsx', sourcefile: '<stdin>', resolveDir: root },
      bundle: true,
      write: false,
      format: 'esm',
      jsx: 'automatic',
      nodePaths,
      logLevel: 'silent',
      outdir: folder,
      loader: { '.css': 'empty' },
      plugins: [directImports(found)],
    })
    expect([library, warnings.filter(({ id }) => id === 'import-is-undefined')]).toEqual([library, []])
  }
  expect([...found]).toEqual(
    expect.arrayContaining(['yjs', 'y-websocket', 'y-prosemirror', '@slate-yjs/core', 'slate']),
  )
})
