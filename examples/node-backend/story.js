// The typical work of a backend: an organization with folders, users and permissions; a document that two
// users edit and the backend rewrites; a permission that is revoked while the document is open.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { readClientOptions } from 'weft-server'
import { createClient, dataOf } from 'weft-server/client'
import { closeCodeOf, visit } from './visit.js'

const options = await readClientOptions({ dataDir: '../../data' })
const weft = createClient(options)
const organizationId = `acme-${Date.now()}`
const say = (text) => console.log(`- ${text}`)

dataOf(await weft.organizations.add({ organizations: [{ organizationId, organizationName: 'Acme' }] }))
dataOf(
  await weft.organizations.folders.add({
    organizationId,
    folders: [
      { folderId: 'plans', folderName: 'Plans' },
      { folderId: 'secret', folderName: 'Secret plans', parentFolderId: 'plans' },
    ],
  }),
)
const access = { organizationId, folderIds: ['secret'], accessType: 'restricted' }
dataOf(await weft.organizations.folders.access.update(access))
const launch = { documentId: 'launch', documentName: 'Launch', folderId: 'secret' }
dataOf(await weft.organizations.documents.add({ organizationId, documents: [launch] }))
say(`organization ${organizationId}: document "launch" in folder plans/secret, which is restricted`)

dataOf(
  await weft.users.add({
    organizationId,
    folderId: 'secret',
    users: [
      { userId: 'ada', name: 'Ada', email: 'ada@example.com', accessRole: 'editor' },
      { userId: 'grace', name: 'Grace', email: 'grace@example.com', accessRole: 'viewer' },
    ],
  }),
)
say('Ada may edit the documents in the folder, Grace may read them')

const document = { organizationId, documentId: 'launch', editorId: 'text' }
dataOf(await weft.crdt.add({ ...document, type: 'text', data: 'Launch on Monday.\n' }))

/** Opens the document as a user, with tokens that the backend creates for it. */
const visitAs = (userId, name) =>
  visit({
    ...document,
    url: options.url,
    async getToken() {
      const userProperties = { name, email: `${userId}@example.com` }
      const resources = [{ type: 'document', id: 'launch', organizationId, accessRole: 'editor' }]
      const user = { userId, userProperties, permissions: { resources } }
      return dataOf(await weft.auth.generateToken(user)).token
    },
  })

const ada = await visitAs('ada', 'Ada')
const grace = await visitAs('grace', 'Grace')
const mallory = await visitAs('mallory', 'Mallory')
assert.equal(mallory.problem?.closeCode, 4404)
say('Ada and Grace have it open; Mallory gets document not found (4404)')

const textOf = ({ doc }) => doc.getText('content').toString()
const until = async (holds) => {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 500, 'took too long')
    await sleep(10)
  }
}

const [{ data: read, version }] = dataOf(await weft.crdt.get(document))
ada.doc.getText('content').insert(0, 'Note by Ada. ')
await until(() => textOf(grace).startsWith('Note by Ada.'))
const data = read.replace('Monday', 'Tuesday')
const change = { type: 'text', data, baseVersion: version, userId: 'planner' }
dataOf(await weft.crdt.update({ ...document, ...change }))
await until(() => textOf(ada) === 'Note by Ada. Launch on Tuesday.\n' && textOf(grace) === textOf(ada))
say(
  `the backend changed the text that it had read; the note of Ada is still there: ${JSON.stringify(textOf(ada))}`,
)

const resources = [{ type: 'folder', id: 'secret', organizationId }]
dataOf(await weft.auth.permissions.remove({ userId: 'ada', permissions: { resources } }))
assert.equal(await closeCodeOf(ada), 4403)
const again = await visitAs('ada', 'Ada')
assert.equal(again.problem?.closeCode, 4404)
say('Ada lost her permission: the server closed her socket (4403) and rejects new ones (4404)')

dataOf(await weft.organizations.delete({ organizationIds: [organizationId] }))
assert.equal(await closeCodeOf(grace), 4404)
say('the organization was deleted with all its content: the server closed the socket of Grace (4404)')
for (const visitor of [ada, grace, mallory, again]) visitor.doc.destroy()
