import { expect, it } from 'vitest'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { webhookOptions, webhooksOf } from '../../support/servers/webhooks.ts'
import { openRecorded } from '../../support/stores/recorded-engine.ts'

it('[HOOK-40] if an endpoint subscribes to an event, stores the event in the same commit as its cause', async () => {
  const { engine, told } = await openRecorded()
  const server = await startTestServer(webhookOptions, { engine })
  const webhooks = await webhooksOf(server)
  await webhooks.advanced({ isEnabled: true })
  const { id } = await webhooks.create({ filterTypes: ['document.create'] })
  const addDocument = async (documentId: string) => {
    const data = { organizationId: 'acme', documents: [{ documentId }], createOrganization: true }
    dataOf(await server.post('/v2/organizations/documents/add', data, webhooks.headers))
    return told().filter((event) => event.documentId === documentId)
  }
  const event = { type: 'document.create', scope: { ...webhooks.tenant, organizationId: 'acme' } }
  for (const documentId of ['first', 'second'])
    expect(await addDocument(documentId)).toMatchObject([{ ...event, documentId }])
  await webhooks.update(id, { filterTypes: ['comment.add'] })
  let count = 0
  await expect.poll(() => addDocument(`unwanted-${count++}`)).toEqual([])
  await webhooks.update(id, { filterTypes: null })
  expect(await addDocument('third')).toMatchObject([{ ...event, documentId: 'third' }])
  await server.stop()
})
