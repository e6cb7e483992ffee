import { type BenchServer, done, startWeft, temporaryDirectory, unlimitedCalls } from '../support/server.ts'

const organizationId = 'acme'

export const startTelling = (): Promise<BenchServer> =>
  startWeft(temporaryDirectory(), {
    ...unlimitedCalls,
    WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1',
    WEFT_LOG_LEVEL: 'error',
  })

/** Creates an endpoint for each URL. The endpoints get an event for every document that is created. */
export async function tell(server: BenchServer, urls: readonly string[]): Promise<void> {
  await done(server, '/v2/organizations/add', { organizations: [{ organizationId }] })
  if (urls.length === 0) return
  await done(server, '/v2/workspace/advancedwebhookconfig/update', { isEnabled: true })
  for (const url of urls)
    await done(server, '/v2/workspace/advancedwebhook/endpoints/create', {
      url,
      filterTypes: ['document.create'],
    })
}

let made = 0
/**
 * Creates documents. Each new document causes one event.
 * @param count number of documents; at most 500
 */
export async function makeDocuments(server: BenchServer, count: number): Promise<void> {
  const documents = Array.from({ length: count }, () => ({ documentId: `d${made++}` }))
  await done(server, '/v2/organizations/documents/add', { organizationId, documents })
}
