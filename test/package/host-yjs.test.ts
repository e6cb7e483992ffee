import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { builtFile } from '../../src/core/base/package-file.ts'

/**
 * A program with a Yjs of its own, which loads the server, exchanges updates with it, and prints the methods of
 * its Yjs that have changed.
 */
const program = (entry: string, host: string, isServerFirst: boolean): string => `
const globals = new Set(Reflect.ownKeys(globalThis))
const createServer = async (...options) => (await import(${JSON.stringify(entry)})).createServer(...options)
const open = () => createServer({ engine: 'memory', log: false })
const early = ${isServerFirst} ? await open() : null
const Y = await import(${JSON.stringify(host)})
const methodsOf = () => Object.entries(Y).flatMap(([name, value]) =>
  [value, value?.prototype].flatMap((owner, index) => owner == null || !/object|function/.test(typeof owner) ? [] :
    Reflect.ownKeys(owner).map((key) => [name + (index === 0 ? '.' : '#') + String(key), Object.getOwnPropertyDescriptor(owner, key)])))
const before = new Map(methodsOf())
const weft = early ?? await open()
const editor = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
const dataOf = ({ ok, data, error }) => { if (!ok) throw new Error(error.message); return data }
const doc = new Y.Doc()
doc.getText('content').insert(0, 'of the host')
const apply = async () => dataOf(await weft.api.crdt.apply({ ...editor, create: true,
  update: Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64') }))
await apply()
dataOf(await weft.api.crdt.edit({ ...editor, edits: [{ insert: { at: 'end', content: ', and of the server', format: 'text' } }] }))
doc.getText('content').insert(0, 'Text ')
await apply()
const [{ data }] = dataOf(await weft.api.crdt.get({ ...editor, format: 'update' }))
Y.applyUpdate(doc, Buffer.from(data, 'base64'))
// Large content is changed on a thread.
dataOf(await weft.api.crdt.update({ ...editor, editorId: 'large', upsert: true, type: 'text', data: 'long text '.repeat(200_000) }))
const after = new Map(methodsOf())
const same = (a, b) => a !== undefined && b !== undefined && a.value === b.value && a.get === b.get && a.set === b.set
const changed = [...new Set([...before.keys(), ...after.keys()])].filter((name) => !same(before.get(name), after.get(name)))
await weft.close()
const added = Reflect.ownKeys(globalThis).filter((key) => !globals.has(key)).map(String)
console.log(JSON.stringify({ methods: before.has('Item#integrate'), changed, text: doc.getText('content').toString(), added }))
`

const entry = fileURLToPath(builtFile('package/server.js'))
const [yjs, older] = ['yjs', 'yjs-13-6-20']

it.each([
  ['the same version, loaded first', yjs, false],
  ['the same version, loaded last', yjs, true],
  ['another version, loaded first', older, false],
  ['another version, loaded last', older, true],
] as const)(
  '[PKG-34] does not change the Yjs of its program and causes no warning, given %s',
  (_, host, isServerFirst) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', program(entry, host, isServerFirst)],
      { cwd: fileURLToPath(new URL('../..', import.meta.url)), encoding: 'utf8', timeout: 60_000 },
    )
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      methods: true,
      changed: [],
      text: 'Text of the host, and of the server',
      added: ['__ $YJS$ __'],
    })
  },
)
