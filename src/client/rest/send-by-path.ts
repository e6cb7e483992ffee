import { operations } from '../api/operations.ts'
import type { Result } from '../api/result.ts'
import { type ClientOptions, type Settings, settingsOf } from './client-options.ts'
import { sendCall } from './send-call.ts'

const byPath = new Map(Object.values(operations).map((operation) => [operation.path as string, operation]))

/** Makes a call of the operation with a path. @throws TypeError if there is no such operation */
export function sendByPath(settings: Settings, path: string, data: object): Promise<Result<unknown>> {
  const operation = byPath.get(path)
  if (operation === undefined) throw new TypeError(`the operation ${path} does not exist`)
  return sendCall(settings, operation, data, {})
}

/** Calls like `sendByPath`, without retries and limits. @throws TypeError if an option is not valid */
export const sendOnce = (options: ClientOptions, path: string, data: object): Promise<Result<unknown>> =>
  sendByPath(
    settingsOf({
      ...options,
      retries: 0,
      timeoutMs: Number.POSITIVE_INFINITY,
      responseBytesMax: Number.POSITIVE_INFINITY,
    }),
    path,
    data,
  )
