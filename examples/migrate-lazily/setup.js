// Configures the callbacks of an API key. Run it once for each deployment of the application.
import { dataOf } from 'weft-server/client'

/** Makes Weft call `url`, and returns the signing secret of the calls. */
export async function configure({ workspace }, url) {
  const callbacks = {
    authorize: { url, timeoutMs: 2000, onFailure: 'reject' },
    load: { url, timeoutMs: 5000, onFailure: 'reject' },
    store: { url, format: 'markdown', minSeconds: 1 },
  }
  dataOf(await workspace.callbacks.update(callbacks))
  return dataOf(await workspace.callbacks.secret.get({})).secret
}
