import type { RequestListener } from 'node:http'
import { createApi } from '../../client/api/create-api.ts'
import type { CallOptions, OperationEntry } from '../../client/api/methods.ts'
import type { WeftApi } from '../../client/api/operation-types.ts'
import type { Result } from '../../client/api/result.ts'
import { Deadline, timerMax } from '../../client/rest/deadline.ts'
import { clientFailure, failureOfEnd, resultOf } from '../../client/rest/read-response.ts'
import {
  adminTokenHeader,
  apiKeyHeader,
  authTokenHeader,
  workspaceAuthTokenHeader,
  workspaceIdHeader,
} from '../../core/access/credentials/authenticator.ts'
import { errorMessage } from '../../core/base/errors.ts'
import type { ServerCredentials } from '../../core/directory/tenants/credentials-file.ts'
import { callInProcess } from '../../rest/http/in-process-call.ts'

/** Creates the methods of all operations. Their calls run in this process, with the credentials of the server. */
export function createInProcessApi(handle: RequestListener, credentials: ServerCredentials): WeftApi {
  const headers = {
    [apiKeyHeader.name]: credentials.apiKey,
    [authTokenHeader.name]: credentials.authToken,
    [workspaceIdHeader.name]: credentials.workspaceId,
    [workspaceAuthTokenHeader.name]: credentials.workspaceAuthToken,
    ...(credentials.adminToken !== undefined && { [adminTokenHeader.name]: credentials.adminToken }),
  }
  const send = async (operation: OperationEntry, data: object, key?: string): Promise<Result<unknown>> => {
    try {
      const sent = { ...headers, ...(key !== undefined && { 'idempotency-key': key }) }
      const { status, body, ...named } = await callInProcess(handle, operation.path, sent, data)
      // `Headers` would change the globals of the program that uses the server.
      const received = new Map([['x-request-id', named.requestId]])
      if (named.retryAfterSeconds !== undefined) received.set('retry-after', String(named.retryAfterSeconds))
      const text = Buffer.from(body).toString()
      const result = resultOf(
        operation,
        { ok: status === 200, headers: { get: (name) => received.get(name) ?? null } },
        text,
      )
      return result ?? clientFailure('client/invalid-response', 'the response has another form')
    } catch (error) {
      return clientFailure('client/invalid-response', errorMessage(error))
    }
  }
  return createApi((operation, data, { idempotencyKey, ...limits }) =>
    withinLimits(limits, () => send(operation, data, idempotencyKey)),
  )
}

/** Ends the wait for a call at its timeout, or if its caller aborts it. The server finishes the call anyway. */
async function withinLimits(
  { signal, timeoutMs = timerMax }: CallOptions,
  call: () => Promise<Result<unknown>>,
): Promise<Result<unknown>> {
  if (signal === undefined && timeoutMs === timerMax) return call()
  const deadline = new Deadline(Math.min(timeoutMs, timerMax), signal)
  const ending = deadline.ending().then(() => failureOfEnd(deadline))
  const result = await (deadline.ended === null ? Promise.race([ending, call()]) : ending)
  deadline.close()
  return result
}
