import {
  minSecondsDefault,
  timeoutMsDefault,
  timeoutMsMin,
} from '../../capabilities/callbacks/api/callback-schema.ts'
import {
  authorizeFailures,
  type CallbackFunctions,
  loadFailures,
} from '../../capabilities/webhooks/callback-records.ts'
import { subscriptionLimits } from '../../capabilities/webhooks/limits.ts'
import { ConfigError, errorMessage } from '../../core/base/errors.ts'
import { oneOf, type Parser, wholeNumber } from '../../core/config/option-parsers.ts'
import { readingFormats } from '../../core/content/read-document.ts'
import { NoResponseError } from '../../core/outgoing/no-response-error.ts'

/** The editor that a callback concerns, and the API key to which it belongs. */
export interface CallbackEditor {
  readonly apiKey: string
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

/** The request of `authorize`. */
export interface AuthorizeRequest extends CallbackEditor {
  readonly callback: 'authorize'
  readonly user: { readonly userId: string; readonly name: string; readonly email: string }
  /** The agent that the token describes; null for a person. */
  readonly agent: {
    readonly model: string | null
    /** The user for whom the agent acts. */
    readonly onBehalfOf: string | null
    /** Policies of the token and of the server. All of them apply, whatever the role is. */
    readonly policies: readonly ('read-only' | 'suggest-only' | 'no-delete')[]
  } | null
}

/** The decision of `authorize`. */
export interface AuthorizeDecision {
  /** The role of the user on the document. Null: the user must not open the document. */
  readonly role: 'viewer' | 'suggester' | 'editor' | null
  /** Time in seconds for which the decision applies, from 1 to 86,400. Default: 60. */
  readonly ttlSeconds?: number
}

/** The request of `load`. */
export interface LoadRequest extends CallbackEditor {
  readonly callback: 'load'
}

/** The initial content of an editor: nothing, a Yjs update in base64, or content of a type. */
export type LoadedContent =
  | { readonly notFound: true }
  | { readonly update: string; readonly userId?: string }
  | {
      readonly type: string
      readonly data: unknown
      readonly contentKey?: string
      readonly schema?: string
      readonly userId?: string
    }

/** The request of `store`. */
export interface StoreRequest extends CallbackEditor {
  readonly callback: 'store'
  readonly contentFormat: string
  /** The content; null if it is left out. */
  readonly content: unknown
  /** Reason why the content is left out. */
  readonly contentOmitted?: string
  readonly contentKey?: string
  readonly contentType?: string
  /** The version that has this content; null if it was not read. */
  readonly version: string | null
  /** Time and author of the last update, as ISO 8601 and as a user id. */
  readonly lastUpdate?: string
  readonly lastUpdatedBy?: string
  /** Time of the event in epoch milliseconds. */
  readonly timestamp: number
}

/** Decides the role of a user whom no grant gives a role on the document. An error is a failed call. */
export type AuthorizeFunction = (request: AuthorizeRequest) => AuthorizeDecision | Promise<AuthorizeDecision>

/** Returns the initial content of an editor that does not exist. An error is a failed call. */
export type LoadFunction = (request: LoadRequest) => LoadedContent | Promise<LoadedContent>

/** Receives the content of editors after changes, at least once. An error is a failed attempt, which is repeated. */
export type StoreFunction = (request: StoreRequest) => unknown

/** The callbacks of all API keys, as functions. Each can be a function, or a function with options. */
export interface CallbackOptions {
  /** Decides the role of a user whom no grant gives a role on the document. */
  readonly authorize?:
    | AuthorizeFunction
    | {
        readonly run: AuthorizeFunction
        /** Maximum time of a call in ms, from 100 to 30,000. Default: 5,000. */
        readonly timeoutMs?: number
        /** If a call fails: `reject` gives no role, `stored` applies the access type. Default: `reject`. */
        readonly onFailure?: 'reject' | 'stored'
      }
  /** Returns the initial content of an editor that does not exist. */
  readonly load?:
    | LoadFunction
    | {
        readonly run: LoadFunction
        /** Maximum time of a call in ms, from 100 to 30,000. Default: 5,000. */
        readonly timeoutMs?: number
        /** If a call fails: `reject` opens nothing, `empty` treats the editor as missing. Default: `reject`. */
        readonly onFailure?: 'reject' | 'empty'
      }
  /** Receives the content of editors after changes. */
  readonly store?:
    | StoreFunction
    | {
        readonly run: StoreFunction
        /** Format of the content, as in `crdt/get`. Default: `json`. */
        readonly format?: string
        /** Minimum time in seconds between two calls about the same editor. Default: 10. */
        readonly minSeconds?: number
      }
}

type Callable = (request: never) => unknown
type CallableWithOptions = { readonly run: Callable } & Readonly<Record<string, unknown>>

const urlOf = (name: string): string => `function:${name}`
const utf8 = new TextDecoder()

/**
 * Converts the functions to callbacks. Their requests and responses have the same form as those over HTTP.
 * Returns null if there are no functions.
 * @throws ConfigError
 */
export function toCallbackFunctions(options: CallbackOptions): CallbackFunctions | null {
  const receivers = new Map<string, (body: Uint8Array) => Promise<Uint8Array>>()
  const given = (name: keyof CallbackOptions): CallableWithOptions | null => {
    const option = options[name]
    if (option === undefined) return null
    const withOptions = typeof option === 'function' ? { run: option } : option
    if (typeof withOptions?.run !== 'function')
      throw new ConfigError(
        `the option "${name}" is not a function; expected a function, or an object with "run"`,
      )
    receivers.set(urlOf(name), receiverOf(withOptions.run))
    return withOptions
  }
  const answering = <const Failure extends string>(
    name: 'authorize' | 'load',
    failures: readonly [Failure, ...Failure[]],
  ) => {
    const option = given(name)
    if (option === null) return null
    const timeoutMs = member(
      name,
      option,
      'timeoutMs',
      wholeNumber(timeoutMsMin, subscriptionLimits.callbackMs),
    )
    const onFailure = member(name, option, 'onFailure', oneOf(...failures))
    return { url: urlOf(name), timeoutMs: timeoutMs ?? timeoutMsDefault, onFailure: onFailure ?? failures[0] }
  }
  const storing = () => {
    const option = given('store')
    if (option === null) return null
    const format = member('store', option, 'format', oneOf(...readingFormats)) ?? 'json'
    const seconds = wholeNumber(1, subscriptionLimits.storeSeconds)
    const minSeconds = member('store', option, 'minSeconds', seconds) ?? minSecondsDefault
    return { url: urlOf('store'), format, minSeconds }
  }
  const callbacks = {
    authorize: answering('authorize', authorizeFailures),
    load: answering('load', loadFailures),
    store: storing(),
    createdAt: 0,
    updatedAt: 0,
    // Functions check no signature, but each request has one.
    secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
    previousSecret: null,
  }
  return receivers.size === 0 ? null : { callbacks, receivers }
}

const receiverOf =
  (call: Callable) =>
  async (body: Uint8Array): Promise<Uint8Array> => {
    try {
      const answer: unknown = await call(JSON.parse(utf8.decode(body)) as never)
      return Buffer.from(JSON.stringify(answer ?? null))
    } catch (error) {
      throw new NoResponseError(`the function failed: ${errorMessage(error)}`)
    }
  }

/** @throws ConfigError */
function member<Value>(
  name: string,
  option: CallableWithOptions,
  key: string,
  parser: Parser<Value>,
): Value | undefined {
  const value = option[key]
  if (value === undefined) return undefined
  const parsed = parser.parse(String(value))
  if (parsed === undefined)
    throw new ConfigError(
      `the option "${name}.${key}" is ${JSON.stringify(value)}; expected ${parser.expected}`,
    )
  return parsed
}
