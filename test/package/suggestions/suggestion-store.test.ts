import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { SuggestionStore } from '../../../src/client/suggestions/suggestion-store.ts'
import { eventually } from '../../support/clients/clients.ts'
import { startCommentApplication } from '../../support/servers/comment-application.ts'

it('[SUG-2] has the error of a decision until the next decision, also after the next list', async () => {
  const nowhere = { url: 'http://127.0.0.1:1', credentials: { apiKey: 'key', authToken: 'token' } }
  const application = await startCommentApplication(nowhere)
  const reply = (response: ServerResponse, status: number, body: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const change = { hunkId: 'hunk', branch: 'branch', dependsOn: [] }
  let reads = 0
  let isAccepted = false
  application.before = (path, response) => {
    const data = { suggestions: [change], userId: 'ada', canDecide: true }
    if (path === 'suggestions/get') reads += 1
    if (path === 'suggestions/get' || isAccepted) reply(response, 200, { result: { data } })
    else reply(response, 409, { error: { message: 'no', details: { code: 'endpoint/suggestion-changed' } } })
    return true
  }
  const address = { organizationId: 'acme', documentId: 'decided' }
  const suggestions = new SuggestionStore(application.endpointOf('ada'), address)
  const end = suggestions.subscribe(() => {})
  const read = (times: number): Promise<void> =>
    eventually(() => reads === times && suggestions.get().suggestions.length === 1)
  await read(1)
  await expect(suggestions.accept('hunk')).rejects.toMatchObject({ code: 'endpoint/suggestion-changed' })
  await read(2)
  expect(suggestions.get().error?.code).toBe('endpoint/suggestion-changed')
  isAccepted = true
  await suggestions.accept('hunk')
  await read(3)
  expect(suggestions.get().error).toBeNull()
  end()
  await application.stop()
})
