import { responseError } from '../../capabilities/backups/storage/backup-sources.ts'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { errorMessage } from '../../core/base/errors.ts'
import { MalformedJsonError, readJson } from '../../core/base/json.ts'
import { withoutTrailing } from '../../core/base/text.ts'
import { type LiveStatus, liveStatusSchema } from '../../rest/pages/status-page.ts'

const timeoutMs = 10_000

/** Reads the status of a running server. @throws StorageError with a sentence for the operator */
export async function readStatus(url: string, adminToken: string): Promise<LiveStatus> {
  const response = await fetch(`${withoutTrailing('/', url)}/status`, {
    headers: { 'x-service-admin-token': adminToken },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new StorageError(`${url} cannot be reached: ${errorMessage(cause)}`, {
      hint: 'start the server, or name its URL',
    })
  })
  if (!response.ok)
    throw new StorageError(`${url} rejected the request: ${await responseError(response)}`, {
      hint: 'the token must be the value of WEFT_ADMIN_TOKEN on the server',
    })
  try {
    return readJson(liveStatusSchema, await response.text())
  } catch (cause) {
    if (!(cause instanceof MalformedJsonError)) throw cause
    throw new StorageError(`${url} is not a Weft server of this version: ${cause.message}`, { cause })
  }
}
