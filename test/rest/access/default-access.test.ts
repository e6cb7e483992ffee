import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { RawClient } from '../../support/clients/clients.ts'
import { directoryOn, scopeOf } from '../../support/data/directory.ts'
import { dataOf, startTestServer, type TestServer, type TokenOptions } from '../../support/servers/server.ts'

const root = join(import.meta.dirname, '../../..')

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ defaultAccess: 'restricted' })
  await done('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] })
})
afterAll(() => server?.stop())

async function done(path: string, data: object): Promise<unknown> {
  const answer = await server.post(path, data)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.body.error?.message}`)
  return dataOf(answer)
}

const accessOf = async (documentId: string): Promise<string | undefined> => {
  const query = { organizationId: 'acme', documentIds: [documentId] }
  const [found] = (await done('/v2/organizations/documents/get', query)) as { accessType: string }[]
  return found?.accessType
}

const addDocument = (document: object) =>
  done('/v2/organizations/documents/add', { organizationId: 'acme', documents: [document] })

async function connect(userId: string, documentId: string, options: TokenOptions = {}): Promise<RawClient> {
  const token = await server.token(userId, options)
  return RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${token}`)
}

function typed(text: string): Uint8Array {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, text)
  return Y.encodeStateAsUpdate(doc)
}

it('[DEF-1] gives new documents and folders the default access type, unless the call sets one', async () => {
  const ids = { organizationId: 'acme', editorId: 'main', type: 'text', data: 'x' }
  await done('/v2/crdt/add', { ...ids, documentId: 'by-add' })
  await done('/v2/crdt/update', { ...ids, documentId: 'by-upsert', upsert: true })
  await addDocument({ documentId: 'listed' })
  await addDocument({ documentId: 'own', accessType: 'public' })
  for (const documentId of ['by-add', 'by-upsert', 'listed'])
    expect(await accessOf(documentId)).toBe('restricted')
  expect(await accessOf('own')).toBe('public')
  await done('/v1/organizations/folders/add', {
    organizationId: 'acme',
    folders: [{ folderId: 'closed' }, { folderId: 'open' }, { folderId: 'inside', parentFolderId: 'open' }],
  })
  const opened = { organizationId: 'acme', folderIds: ['open'], accessType: 'public' }
  await done('/v2/organizations/folders/access/update', opened)
  await addDocument({ documentId: 'in-closed', folderId: 'closed' })
  await addDocument({ documentId: 'in-open', folderId: 'inside' })
  expect(await accessOf('in-closed')).toBe('restricted')
  expect(await accessOf('in-open')).toBe('public')
})

it('[DEF-2] when a user without a grant connects to a new document, closes the socket with 4404, and creates nothing', async () => {
  const stranger = await connect('stranger', 'unknown')
  stranger.sendUpdate(typed('mine'))
  expect((await stranger.closed).code).toBe(4404)
  const narrowed = await connect('stranger', 'unknown', {
    resources: [{ type: 'document', id: 'unknown', organizationId: 'acme', accessRole: 'editor' }],
  })
  expect((await narrowed.closed).code).toBe(4404)
  expect(await accessOf('unknown')).toBeUndefined()
})

it('[DEF-2] lets a user with a grant on the organization create a document, which others do not see', async () => {
  await done('/v2/users/add', { organizationId: 'acme', users: [{ userId: 'ann', accessRole: 'editor' }] })
  const ann = await connect('ann', 'first')
  ann.sendUpdate(typed('by ann'))
  await expect.poll(() => accessOf('first'), { timeout: 60_000 }).toBe('restricted')
  const read = { organizationId: 'acme', documentId: 'first', editorId: 'main' }
  await expect
    .poll(async () => (await server.post('/v2/crdt/get', read)).body.result?.data, { timeout: 60_000 })
    .toMatchObject([{ data: 'by ann' }])
  expect((await (await connect('stranger', 'first')).closed).code).toBe(4404)
  ann.socket.close()
})

it('[DEF-3] keeps the access type of existing documents; a document that moves to a place without an access type gets the default', async () => {
  const engine = await openMemoryEngine()
  const tenant = { workspaceId: 'w', apiKey: 'k' }
  const scope = scopeOf(tenant, 'acme')
  const before = directoryOn(engine)
  await before.organizations.add(tenant, [{ organizationId: 'acme' }])
  await before.folders.add(scope, [{ folderId: 'old' }, { folderId: 'moved', parentFolderId: 'old' }])
  await before.documents.add(scope, [{ documentId: 'old' }], { createFolder: false })
  await before.folders.update(scope, [{ folderId: 'old', accessType: 'organizationPrivate' }])
  await before.documents.add(scope, [{ documentId: 'inside', folderId: 'old' }], { createFolder: false })
  const after = directoryOn(engine, undefined, 'restricted')
  const accessTypes = async () =>
    (await after.documents.get(scope, ['old', 'inside'])).map(({ accessType }) => accessType)
  expect(await accessTypes()).toEqual(['public', 'organizationPrivate'])
  await after.documents.move(scope, ['inside'], 'root')
  expect(await accessTypes()).toEqual(['public', 'restricted'])
  await after.folders.update(scope, [{ folderId: 'moved', parentFolderId: 'root' }])
  await after.documents.add(scope, [{ documentId: 'below', folderId: 'moved' }], { createFolder: false })
  expect((await after.documents.get(scope, ['below']))[0]?.accessType).toBe('restricted')
  await engine.close()
})

it('[DEF-4] sets access to restricted in every deployment file that starts a server', () => {
  const files = ['weft.service', 'compose.yaml', 'cluster/compose.yaml', 'helm/weft/values.yaml']
  for (const file of files) {
    const text = readFileSync(join(root, 'examples', 'deploy', file), 'utf8')
    expect(text, file).toMatch(/WEFT_DEFAULT_ACCESS(=|: |\n +value: )restricted\n/)
  }
})

/** The text from an opening bracket to its closing one. */
function bracketed(code: string, start: number): string {
  let depth = 0
  for (let at = start; at < code.length; at++) {
    if ('([{'.includes(code[at] as string)) depth += 1
    if (')]}'.includes(code[at] as string)) depth -= 1
    if (depth === 0) return code.slice(start, at + 1)
  }
  return code.slice(start)
}

/** The value of a member or constant in JSON or JavaScript, as it is written in the text. */
function writtenAs(name: string, code: string, kind: 'member' | 'constant'): string | null {
  const pattern = kind === 'member' ? `"?\\b${name}"?\\s*:\\s*` : `\\bconst ${name} = `
  const found = [...code.matchAll(new RegExp(pattern, 'g'))].at(-1)
  if (found === undefined) return null
  const value = code.slice(found.index + found[0].length)
  return /^[{[]/.test(value) ? bracketed(value, 0) : (value.split(/[,\n}]/)[0] ?? null)
}

/** The data that a call of `generate_token` or of the method `generateToken` sends, with the values of its constants. */
function sentBy(code: string, index: number): string {
  const after = code.slice(index)
  const json = /^[^\n]*(?:\n(?!\n)[^\n]*){0,4}?'(\{.*\})'/.exec(after)?.[1]
  if (json !== undefined) return json
  const open = /^[/.\w]*generateToken\(/.test(after) ? code.indexOf('(', index) : code.lastIndexOf('(', index)
  const sent = bracketed(code, open)
  const before = code.slice(0, open)
  const scope = before.split(/\n {0,2}\}\n/).at(-1) ?? ''
  const inlined = /[(,] ?(\w+)\)$/.exec(sent)?.[1]
  let body = inlined === undefined ? sent : (writtenAs(inlined, before, 'constant') ?? sent)
  for (const name of ['permissions', 'resources'])
    if (new RegExp(`[{,]\\s*${name}\\s*[,}]`).test(body))
      body += ` ${name}: ${writtenAs(name, scope, 'constant')}`
  return body
}

/** Returns why a sample does not give its token the least permissions, or null. */
function privilegeProblem(sent: string): string | null {
  if (/\bisAdmin\b/.test(sent)) return 'the user is an administrator'
  const permissions = writtenAs('permissions', sent, 'member')
  if (permissions === null) return 'no permissions'
  const resources = /[{,]\s*resources\s*[,}]/.test(permissions)
    ? writtenAs('resources', sent, 'member')
    : permissions
  const types = [...(resources ?? '').matchAll(/"?\btype"?: ?["'](\w+)["']/g)].map(([, type]) => type)
  // A role can also be a constant.
  const roles = resources?.match(/"?\baccessRole"?: ?["'\w]/g) ?? []
  if (types.length === 0) return 'permissions without resources'
  if (roles.length !== types.length) return 'a resource without accessRole'
  return types.every((type) => type === 'document') ? null : `access to: ${types.join(', ')}`
}

const tokenProblems = (code: string): readonly string[] => [
  ...[...code.matchAll(/auth(\/generate_token\b|\.generateToken\()/g)].flatMap(
    ({ index }) => privilegeProblem(sentBy(code, index)) ?? [],
  ),
  ...[...code.matchAll(/main\.js token (?!-)\S+.*/g)].flatMap(([command]) =>
    /--document\b/.test(command) && !/--admin\b/.test(command) ? [] : ['a command without --document'],
  ),
]

const broken: readonly (readonly [string, string])[] = [
  [
    'no permissions',
    `curl /v2/auth/generate_token \\\n  -d '{"data":{"userId":"ada"}}'\n# permissions are optional`,
  ],
  ['no permissions', `// permissions\ncall('/v2/auth/generate_token', { userId })\nconst permissions = {}`],
  ['permissions without resources', `call('/v2/auth/generate_token', { userId, permissions: {} })`],
  [
    'a resource without accessRole',
    `call auth/generate_token '{"userId":"a","permissions":{"resources":[{"type":"document","id":"d"}]}}'`,
  ],
  [
    'permissions without resources',
    `function other() {\n  const permissions = { resources: [{ type: 'document', accessRole: 'editor' }] }\n}\n` +
      `function own() {\n  return call('/v2/auth/generate_token', { userId, permissions })\n}`,
  ],
  [
    'access to: organization',
    `const permissions = { resources: [{ type: 'organization', id, accessRole: 'editor' }] }\n` +
      `const asked = { userId, permissions }\ncall('/v2/auth/generate_token', asked)`,
  ],
  [
    'access to: folder',
    `const resources = [{ type: 'folder', id, accessRole: 'editor' }]\n` +
      `const user = { userId, permissions: { resources } }\nawait weft.auth.generateToken(user)`,
  ],
  ['no permissions', 'f(await weft.api.auth.generateToken({ userId }), { permissions })'],
  [
    'the user is an administrator',
    `call('/v2/auth/generate_token', { userProperties: { isAdmin: true }, permissions: { resources: [] } })`,
  ],
  ['a command without --document', 'node dist/main.js token grace'],
]

it.each(broken)('[DEF-5] finds a documentation sample whose token has the problem: %s', (problem, code) => {
  expect(tokenProblems(code)).toEqual([problem])
})

it('[DEF-5] gives each token in the README, the documentation and the examples the least permissions', () => {
  const inside = (folder: string): string[] =>
    // With the types, it does not follow links, such as the one from an example to this package.
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .filter((name) => /\.(md|js|ts|tsx|html|sh|py)$/.test(name))
      .filter((name) => !/node_modules|public\/|weft_api\.py/.test(name))
  const samples = ['README.md', ...inside('src/docs'), ...inside('examples')].flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const isProse = file.endsWith('.md')
    const codes = isProse ? text.match(/^ *```[\s\S]*?^ *```|(?<!`)`[^`\n]+`(?!`)/gm) : [text]
    // A sentence that only names the call sends nothing.
    const calls = (codes ?? []).filter((code) => !/^`[^`]*generate_token`$/.test(code))
    return calls.map((code) => ({ file, code }))
  })
  const made = samples.filter(({ code }) => /generate_token|generateToken\(|main\.js token /.test(code))
  expect(made.length).toBeGreaterThan(5)
  const problems = made.flatMap(({ file, code }) =>
    tokenProblems(code).map((problem) => `${file}: ${problem}`),
  )
  expect(problems).toEqual([
    // An assistant lists and searches the documents of an organization.
    'src/docs/agents.md: access to: organization',
    // The application decides the rights of this user in the callback `authorize`.
    'examples/migrate-lazily/smoke.js: no permissions',
  ])
})
