// Configures the callbacks of an API key. Run it once for each deployment of the application.

/** Returns a function that calls an operation of Weft and returns the data of its response. */
export const weftCalls =
  ({ url, apiKey, authToken }) =>
  async (path, data) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-api-key': apiKey,
        'x-service-auth-token': authToken,
      },
      body: JSON.stringify({ data }),
    })
    const { result, error } = await response.json()
    if (error) throw new Error(`${path}: ${error.message}`)
    return result.data
  }

/** Configures the callbacks, and returns their signing secret. */
export async function configure(call, url) {
  await call('/v2/workspace/callbacks/update', {
    authorize: { url, timeoutMs: 2000, onFailure: 'reject' },
    load: { url, timeoutMs: 5000, onFailure: 'reject' },
    store: { url, format: 'markdown', minSeconds: 1 },
  })
  return (await call('/v2/workspace/callbacks/secret/get', {})).secret
}
