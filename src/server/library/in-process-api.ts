import type { RequestListener } from 'node:http'
import type { ClientErrorCode } from '../../client/api/codes.ts'
import { createApi } from '../../client/api/create-api.ts'
import type { CallOptions, OperationEntry } from '../../client/api/methods.ts'
import type { WeftApi } from '../../client/api/operation-types.ts'
import type {
  CreatedResources,
  FailedCall,
  FailureDetails,
  Result,
  WeftFailure,
} from '../../client/api/result.ts'
import {
  adminTokenHeader,
  apiKeyHeader,
  authTokenHeader,
  workspaceAuthTokenHeader,
  workspaceIdHeader,
} from '../../core/access/credentials/authenticator.ts'
import { errorMessage } from '../../core/base/errors.ts'
import type { ServerCredentials } from '../../core/directory/tenants/credentials-file.ts'
import { callInProcess, type InProcessResponse } from '../../rest/http/in-process-call.ts'

interface SuccessBody {
  readonly message: string
  readonly data: unknown
  readonly pageToken?: string
  readonly warnings?: readonly string[]
  readonly created?: CreatedResources
}

interface ErrorBody {
  readonly status: WeftFailure['status']
  readonly message: string
  readonly details: FailureDetails & { readonly code: WeftFailure['code'] }
}

interface Body {
  readonly result?: unknown
  readonly error?: ErrorBody
}

/**
 * Creates the methods of all operations. Their calls run in this process, with the credentials of the server.
 * @param adminToken token of the operator; null if operations of the operator are off
 */
export function createInProcessApi(
  handle: RequestListener,
  credentials: ServerCredentials,
  adminToken: string | null,
): WeftApi {
  const headers = {
    [apiKeyHeader.name]: credentials.apiKey,
    [authTokenHeader.name]: credentials.authToken,
    [workspaceIdHeader.name]: credentials.workspaceId,
    [workspaceAuthTokenHeader.name]: credentials.workspaceAuthToken,
    ...(adminToken !== null && { [adminTokenHeader.name]: adminToken }),
  }
  return createApi((operation, data, options) => {
    const { idempotencyKey } = options
    const key = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    return withinLimits(options, async () => {
      try {
        return toResult(operation, await callInProcess(handle, operation.path, { ...headers, ...key }, data))
      } catch (error) {
        return failure('client/invalid-response', 'UNAVAILABLE', errorMessage(error))
      }
    })
  })
}

function toResult(
  { bare }: OperationEntry,
  { body, retryAfterSeconds, requestId }: InProcessResponse,
): Result<unknown> {
  const { result, error } = JSON.parse(Buffer.from(body).toString()) as Body
  if (error === undefined) {
    if (bare) return { ok: true, data: result, message: '' }
    const { message, data, pageToken, warnings, created } = result as SuccessBody
    return {
      ok: true,
      data,
      message,
      ...(warnings !== undefined && { warnings }),
      ...(created !== undefined && { created }),
      ...(pageToken !== undefined && { nextPage: pageToken }),
    }
  }
  const { code, ...details } = error.details
  const { status, message } = error
  return {
    ok: false,
    error: {
      code,
      status,
      message,
      requestId,
      ...(Object.keys(details).length > 0 && { details }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
  }
}

/** Ends the wait for a call at its timeout, or if its caller aborts it. The server finishes the call anyway. */
async function withinLimits(
  { signal, timeoutMs }: CallOptions,
  call: () => Promise<Result<unknown>>,
): Promise<Result<unknown>> {
  if (signal?.aborted === true) return aborted
  if (signal === undefined && timeoutMs === undefined) return call()
  return new Promise((resolve) => {
    const abort = (): void => settle(aborted)
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => settle(late(timeoutMs)), timeoutMs)
    const settle = (result: Result<unknown>): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      resolve(result)
    }
    signal?.addEventListener('abort', abort, { once: true })
    void call().then(settle)
  })
}

const failure = (code: ClientErrorCode, status: WeftFailure['status'], message: string): FailedCall => ({
  ok: false,
  error: { code, status, message },
})

const aborted = failure('client/aborted', 'CANCELLED', 'the caller aborted the call')
const late = (timeoutMs: number): FailedCall =>
  failure('client/timeout', 'UNAVAILABLE', `there was no response within ${timeoutMs} ms`)
