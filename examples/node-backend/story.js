// The typical work of a backend: an organization with folders, users and permissions; a document that two
// users edit and the backend rewrites; a permission that is revoked while the document is open.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Weft } from './weft.js'

const {
  WEFT_URL: url = 'http://localhost:8787',
  WEFT_API_KEY: apiKey,
  WEFT_AUTH_TOKEN: authToken,
} = process.env
const credentials = apiKey
  ? { apiKey, authToken }
  : JSON.parse(await readFile(new URL('../../data/credentials.json', import.meta.url), 'utf8'))
const weft = new Weft({ url, ...credentials })

const organizationId = `acme-${Date.now()}`
const say = (text) => console.log(`- ${text}`)

await weft.call('/v2/organizations/add', { organizations: [{ organizationId, organizationName: 'Acme' }] })
await weft.call('/v1/organizations/folders/add', {
  organizationId,
  folders: [
    { folderId: 'plans', folderName: 'Plans' },
    { folderId: 'secret', folderName: 'Secret plans', parentFolderId: 'plans' },
  ],
})
await weft.call('/v2/organizations/folders/access/update', {
  organizationId,
  folderIds: ['secret'],
  accessType: 'restricted',
})
await weft.call('/v2/organizations/documents/add', {
  organizationId,
  documents: [{ documentId: 'launch', documentName: 'Launch', folderId: 'secret' }],
})
say(`organization ${organizationId}: document "launch" in folder plans/secret, which is restricted`)

await weft.call('/v2/users/add', {
  organizationId,
  folderId: 'secret',
  users: [
    { userId: 'ada', name: 'Ada', email: 'ada@example.com', accessRole: 'editor' },
    { userId: 'grace', name: 'Grace', email: 'grace@example.com', accessRole: 'viewer' },
  ],
})
say('Ada may edit the documents in the folder, Grace may read them')

await weft.call('/v2/crdt/add', {
  organizationId,
  documentId: 'launch',
  editorId: 'text',
  type: 'text',
  data: 'Launch on Monday.\n',
})
const path = `${organizationId}/launch/text`
const document = { organizationId, documentId: 'launch' }
const ada = await weft.open(path, await weft.tokenFor('ada', 'Ada', document))
const grace = await weft.open(path, await weft.tokenFor('grace', 'Grace', document))
const mallory = await weft.open(path, await weft.tokenFor('mallory', 'Mallory', document))
assert.equal(mallory.refused, 4404)
say('Ada and Grace have it open; Mallory gets document not found (4404)')

const textOf = ({ doc }) => doc.getText('content').toString()
const until = async (holds) => {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 500, 'took too long')
    await sleep(10)
  }
}

const [{ data: read, version }] = await weft.call('/v2/crdt/get', {
  organizationId,
  documentId: 'launch',
  editorId: 'text',
})
ada.doc.getText('content').insert(0, 'Note by Ada. ')
await until(() => textOf(grace).startsWith('Note by Ada.'))
await weft.call('/v2/crdt/update', {
  organizationId,
  documentId: 'launch',
  editorId: 'text',
  type: 'text',
  data: read.replace('Monday', 'Tuesday'),
  baseVersion: version,
  userId: 'planner',
})
await until(() => textOf(ada) === 'Note by Ada. Launch on Tuesday.\n' && textOf(grace) === textOf(ada))
say(
  `the backend changed the text that it had read; the note of Ada is still there: ${JSON.stringify(textOf(ada))}`,
)

await weft.call('/v2/auth/permissions/remove', {
  userId: 'ada',
  permissions: { resources: [{ type: 'folder', id: 'secret', organizationId }] },
})
assert.equal(await ada.closed, 4403)
const again = await weft.open(path, await weft.tokenFor('ada', 'Ada', document))
assert.equal(again.refused, 4404)
say('Ada lost her permission: the server closed her socket (4403) and rejects new ones (4404)')

await weft.call('/v2/organizations/delete', { organizationIds: [organizationId] })
assert.equal(await grace.closed, 4404)
say('the organization was deleted with all its content: the server closed the socket of Grace (4404)')
process.exit(0)
