import { readFile } from 'node:fs/promises'

/** Returns key and token from the environment, or from the credentials file in the data directory of Weft. */
export async function readCredentials(file) {
  const { WEFT_API_KEY: apiKey, WEFT_AUTH_TOKEN: authToken } = process.env
  if (file === undefined && apiKey && authToken) return { apiKey, authToken }
  return JSON.parse(await readFile(file ?? new URL('../../data/credentials.json', import.meta.url), 'utf8'))
}

/** Returns a function that calls operations. It returns `result.data`, or throws an error. */
export const caller =
  (url, { apiKey, authToken }) =>
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
    if (error) throw Object.assign(new Error(`${path}: ${error.message}`), { status: error.status })
    return result.data
  }
