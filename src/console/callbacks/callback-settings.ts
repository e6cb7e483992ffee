import { ApiCallError, type ApiClient } from '../api/client.ts'

/** Settings of a callback that answers while a client waits. */
export interface AnsweringSettings {
  readonly url: string
  readonly timeoutMs: number
  readonly onFailure: string
}

export interface StoreSettings {
  readonly url: string
  readonly format: string
  readonly contentKey?: string
  readonly minSeconds: number
}

/** The callbacks of an API key. A callback that is off is null. */
export interface CallbackSettings {
  readonly authorize: AnsweringSettings | null
  readonly load: AnsweringSettings | null
  readonly store: StoreSettings | null
  /** Absent if no callback was ever configured. There is then no signing secret. */
  readonly createdAt?: string
}

export type AnsweringName = 'authorize' | 'load'

export const callbacksPath = '/v2/workspace/callbacks'

/** Reads the callbacks. @throws ApiCallError */
export async function readCallbacks(api: ApiClient): Promise<CallbackSettings> {
  try {
    return await api.call<CallbackSettings>(`${callbacksPath}/get`)
  } catch (error) {
    if (error instanceof ApiCallError && error.status === 'NOT_FOUND')
      return { authorize: null, load: null, store: null }
    throw error
  }
}

/** Values of `onFailure`, each with its effect for clients. */
export const failurePolicies: Readonly<Record<AnsweringName, readonly (readonly [string, string])[]>> = {
  authorize: [
    ['reject', 'new clients are closed with 1013 and try again'],
    ['stored', 'the access type of the document applies'],
  ],
  load: [
    ['reject', 'clients are closed with 1013 and try again'],
    ['empty', 'the editor counts as missing'],
  ],
}

/** Meaning of each result of a call, with the remedy of a failure. */
export const resultMeanings: Readonly<Record<string, string>> = {
  answered: 'The backend gave a valid answer.',
  timeout:
    'The backend did not answer within the timeout, which includes all attempts. Raise the timeout, or make the backend faster.',
  unreachable:
    'No response. Check the URL, the DNS name and the certificate. An address that is not public must be in WEFT_WEBHOOK_ALLOWLIST.',
  status: 'The backend must answer with a status of 2xx. Weft does not follow redirects.',
  invalid: 'The answer does not have the form that the documentation describes, or is too large.',
  busy: 'Too many calls were in progress. The backend is too slow for the number of clients.',
  paused:
    'The circuit breaker is open: the latest 5 calls failed, so Weft makes no calls for 2 to 60 seconds. Then one call decides.',
}
