// Calls Weft. Its address and credentials come from WEFT_URL, WEFT_API_KEY and WEFT_AUTH_TOKEN, or from the
// credentials file in its data directory.
import { readFile } from 'node:fs/promises'

export const weftUrl = process.env.WEFT_URL ?? 'http://localhost:8787'

async function credentials() {
  if (process.env.WEFT_API_KEY && process.env.WEFT_AUTH_TOKEN) {
    return { apiKey: process.env.WEFT_API_KEY, authToken: process.env.WEFT_AUTH_TOKEN }
  }
  return JSON.parse(await readFile(new URL('../../data/credentials.json', import.meta.url), 'utf8'))
}

/** Returns `result.data` of an operation, or throws an error with its status. */
export async function call(path, data) {
  const { apiKey, authToken } = await credentials()
  const response = await fetch(weftUrl + path, {
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
