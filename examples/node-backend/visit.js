import { DocumentProvider } from 'weft-server/provider'
import { WebSocket } from 'ws'

/**
 * Opens a document as a user of a browser does.
 * @param options `url` of Weft, address of the document, and `getToken`
 * @returns the provider; after a rejection, `provider.problem` has its close code
 */
export async function visit(options) {
  const provider = new DocumentProvider({ ...options, WebSocket })
  await Promise.race([new Promise((resolve) => provider.once('synced', resolve)), closeCodeOf(provider)])
  return provider
}

/** Resolves with the close code when the server closes the document permanently. */
export const closeCodeOf = (provider) =>
  new Promise((resolve) => {
    const check = () => provider.problem?.action === 'stop' && resolve(provider.problem.closeCode)
    provider.on('status', check)
    check()
  })
