import type { WeftApi } from '../api/operation-types.ts'
import { WeftError } from '../api/result.ts'
import { readJsonBody, readMembers, validId } from './endpoint-body.ts'
import { createCommentOperations } from './endpoint-comments.ts'
import type { EndpointOperation } from './endpoint-operation.ts'
import {
  errorResponse,
  jsonResponse,
  RejectedRequest,
  rejected,
  rejectionOfFault,
  resultForUser,
} from './endpoint-rejection.ts'
import { createSuggestionOperations } from './endpoint-suggestions.ts'
import { requestToken } from './endpoint-token.ts'
import { type CheckedUser, checkUser, type EndpointDocument, type EndpointUser } from './endpoint-user.ts'

/** Options of `createEndpoint`. `Context` is the second argument of the endpoint. */
export interface EndpointOptions<Context = void> {
  /** A client of `createClient`, or `api` of a server of `createServer`. */
  readonly api: WeftApi
  /**
   * Returns the user of a request and the permissions of this user on the document; null if the user may not open it.
   * Only this function protects the documents: authenticate the user, such as by the cookie of the session, and check
   * the ids of the document. The body of the request is read already.
   * @param context second argument of the endpoint, such as the request of Express
   */
  readonly authorize: (
    request: Request,
    document: EndpointDocument,
    context: Context,
  ) => Promise<EndpointUser | null> | EndpointUser | null
  /** Seconds for which a token is valid: 60 to 172,800. Providers renew it in time. Default: 3,600. */
  readonly tokenSeconds?: number | undefined
  /**
   * Gets the faults that users cannot see, such as an error of `authorize` or invalid credentials of `api`. It must
   * not throw. Default: `console.error`.
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Answers requests of pages. Always returns a response. */
export type Endpoint<Context = void> = (request: Request, context: Context) => Promise<Response>

interface EndpointSettings<Context> {
  readonly api: WeftApi
  readonly authorize: EndpointOptions<Context>['authorize']
  readonly tokenSeconds: number
  readonly onError: (error: unknown) => void
  /** By path. */
  readonly operations: ReadonlyMap<string, EndpointOperation>
}

const documentReaders = { organizationId: validId, documentId: validId, editorId: validId }

/** End of the path of a request. The application chooses the part before it. */
const pathEnd = /\/(token|(?:comments|suggestions)\/[a-z]+)\/?$/

/**
 * Creates the endpoint of an application, which pages call: `POST …/token` returns a realtime token for one document,
 * `POST …/comments/*` reads and changes its comments, and `POST …/suggestions/*` its suggestions. It needs only standard
 * APIs, so it runs wherever a server handles a `Request`. `nodeHandler` of `weft-server` adapts it to Express, Fastify and `node:http`.
 *
 * A page chooses a document and writes texts. The application decides about the user, the role and the documents.
 * @throws TypeError if an option is not valid
 */
export function createEndpoint<Context = void>({
  api,
  authorize,
  tokenSeconds = 3_600,
  onError = (error) => console.error(error),
}: EndpointOptions<Context>): Endpoint<Context> {
  if (typeof authorize !== 'function') throw new TypeError('invalid authorize; expected a function')
  if (!Number.isInteger(tokenSeconds) || tokenSeconds < 60 || tokenSeconds > 172_800)
    throw new TypeError(`invalid tokenSeconds ${tokenSeconds}; expected an integer from 60 to 172800`)
  const operations = new Map([...createCommentOperations(), ...createSuggestionOperations()])
  const settings = { api, authorize, tokenSeconds, onError, operations }
  return async (request, context) => {
    try {
      return jsonResponse(await answer(settings, request, context))
    } catch (error) {
      if (error instanceof RejectedRequest) return errorResponse(error)
      // A page that is closed while it sends a request is not a fault.
      if (!request.signal.aborted) onError(error)
      return errorResponse(rejectionOfFault(error))
    }
  }
}

/** Returns the body of a successful response. */
async function answer<Context>(
  settings: EndpointSettings<Context>,
  request: Request,
  context: Context,
): Promise<object> {
  const { api, onError, operations } = settings
  const path = pathEnd.exec(new URL(request.url).pathname)?.[1] ?? ''
  const operation = operations.get(path)
  if (operation === undefined && path !== 'token')
    throw rejected('request/unknown-path', 'the endpoint does not have this path')
  if (request.method !== 'POST') throw rejected('request/method', 'the method must be POST')
  const members = readMembers(await readJsonBody(request), { ...documentReaders, ...operation?.readers })
  const document = documentOf(members)
  const user = await authorizedUser(settings, request, document, context)
  if (operation === undefined) return tokenBody(settings, document, user)
  checkPermission(operation, user)
  const result = await operation.run({ api, document, user, onError }, members)
  return { result: { status: 'success', ...result } }
}

const documentOf = ({ organizationId, documentId, editorId }: EndpointDocument): EndpointDocument => ({
  organizationId,
  documentId,
  editorId,
})

async function authorizedUser<Context>(
  { authorize }: EndpointSettings<Context>,
  request: Request,
  document: EndpointDocument,
  context: Context,
): Promise<CheckedUser> {
  // A copy, because the function could change it.
  const user: EndpointUser | null | undefined = await authorize(request, { ...document }, context)
  if (user === null || user === undefined)
    throw rejected('endpoint/denied', 'this user may not open the document')
  return checkUser(user)
}

function checkPermission({ writesComments }: EndpointOperation, { canComment }: CheckedUser): void {
  if (writesComments && !canComment)
    throw rejected('endpoint/cannot-comment', 'this user may not write comments')
}

async function tokenBody<Context>(
  { api, tokenSeconds }: EndpointSettings<Context>,
  document: EndpointDocument,
  user: CheckedUser,
): Promise<object> {
  const result = await requestToken(api, document, user, tokenSeconds)
  if (!result.ok && result.error.status !== 'RESOURCE_EXHAUSTED') throw new WeftError(result.error)
  return { token: resultForUser(result).data.token }
}
