import type { IncomingMessage } from 'node:http'
import { decodeAny, encodeAny } from 'lib0/buffer'
import type { KeyCaller, UserCaller } from '../../../core/access/credentials/authenticator.ts'
import { ApiError, invalid } from '../../../core/base/errors.ts'
import type { ObjectSchema } from '../../../core/base/schema.ts'
import { documentPrefix } from '../../../core/model/address.ts'
import { responseTooLarge } from '../../../core/model/json-pieces.ts'
import { ByteReader } from '../../../core/update/byte-reader.ts'
import { MalformedUpdateError } from '../../../core/update/malformed.ts'
import { skipAny } from '../../../core/update/values.ts'
import { toAgentError } from '../../../rest/agents/authorize-agent.ts'
import { editorAddress } from '../../../rest/editor-content.ts'
import { backendOf } from '../../../rest/http/caller-of.ts'
import { type Edge, forwardCall } from '../../../rest/http/operation-steps.ts'
import { limitCaller } from '../../../rest/http/rate-limits.ts'
import { readBytes } from '../../../rest/http/request-body.ts'
import { requestPath, type ServedResponse } from '../../../rest/http/served-response.ts'
import type { ServedRoute } from '../../../rest/http/served-route.ts'
import { setCaller } from '../../../rest/http/traced-request.ts'
import type { Services } from '../../../rest/services.ts'
import { invalidAt, validatorOf } from '../../../rest/validator.ts'
import { versionedAddress, type versionedEditor } from '../api/version-schema.ts'
import { type YHubCall, yhubCalls } from './yhub-calls.ts'

/** Maximum number of values in a body. An update is one value. */
const valuesMax = 1_000

type Place = Record<keyof typeof versionedEditor, string>

/** Returns the calls of y/hub that the history of editors such as BlockNote makes. */
export const yhubRoutes = (services: Services, edge: Edge): readonly ServedRoute[] =>
  Object.entries(yhubCalls).map(([name, call]) => {
    const label = `/yhub/${name}/v1`
    const methods: ServedRoute['methods'] = {
      [call.method]: (request, response) => answer(call, label, request, response, services, edge),
    }
    return { path: `${label}/*path`, label, methods }
  })

async function answer(
  call: YHubCall,
  label: string,
  request: IncomingMessage,
  response: ServedResponse,
  services: Services,
  edge: Edge,
): Promise<void> {
  const ready = edge.readiness()
  if (!ready.ok) throw new ApiError('server/not-ready', ready.reason, { retryAfterSeconds: 1 })
  const caller = await callerOf(request, services, edge)
  setCaller(response, caller)
  const { maxBodyBytes, maxResponseBytes } = services.config
  const meter = await limitCaller(edge.quotas, caller, request, response, maxBodyBytes)
  const ids = placeOf(request)
  const isRead = call.method === 'GET'
  const body = isRead ? '' : await readBytes(request, maxBodyBytes, meter)
  const given = typeof body === 'string' ? queryOf(request, call.schema) : readLib0(body)
  const data = { ...given, ...ids }
  // A filter that has no effect would select too much.
  const unknown = Object.keys(data).find((name) => !Object.hasOwn(call.schema.properties, name))
  if (unknown !== undefined) throw invalidAt({ path: `/data/${unknown}`, message: 'is unknown' })
  validatorOf(call.schema)(data, 0)
  const document = documentPrefix({ ...caller.tenant, organizationId: ids.organizationId }, ids.documentId)
  if (await forwardCall(document, ids, edge, request, response, body, isRead ? 'reads' : 'once')) return
  let found: object = {}
  const run = async () => {
    found = await authorized(call, data, ids, caller, services)
    return { httpCode: 200, body: '', replayed: false }
  }
  const { call: usage, requestId } = response.weftLocals
  const operation = { path: label, audited: isRead ? 'read' : 'change', request: call.schema } as const
  // The history of the document names the user, as for changes from websockets.
  if (caller.level === 'user') await run()
  else await edge.auditor.run({ operation, caller, data, request, requestId }, run)
  const bytes = encodeAny(found)
  if (bytes.length > maxResponseBytes) throw responseTooLarge(maxResponseBytes, 'request less data')
  usage?.succeeded(caller, ids)
  response.writeHead(200, { 'content-type': 'application/x-lib0any', 'content-length': bytes.length })
  response.end(bytes)
}

/** @throws ApiError as for `AgentAccess.bearerOf` and `backendOf`; PERMISSION_DENIED for an agent */
async function callerOf(
  request: IncomingMessage,
  { agents }: Services,
  edge: Edge,
): Promise<KeyCaller | UserCaller> {
  const bearer = await agents.bearerOf(request.headers).catch((error: unknown) => {
    edge.auditor.refused('realtime', error, request)
    throw error
  })
  if (bearer === null) return backendOf('key', request, edge)
  if (bearer.level === 'user') return bearer
  throw new ApiError('agent/operation-not-allowed', 'agents must not call /yhub; call /v2/crdt/undo')
}

/** The path ends with the ids of the organization, the document and the editor. Without the last, it is `main`. */
function placeOf(request: IncomingMessage): Place {
  const parts = requestPath(request).split('/').slice(4).map(decodeURIComponent)
  const [organizationId = '', documentId = '', editorId = 'main'] = parts
  if (parts.length > 3) throw invalidAt({ path: '/data/editorId', message: 'must end the path' })
  return { organizationId, documentId, editorId }
}

const queryOf = ({ url = '' }: IncomingMessage, { properties }: ObjectSchema): object =>
  Object.fromEntries(
    [...new URLSearchParams(url.split('?')[1] ?? '')].map(([name, text]) => {
      const type = properties[name]?.type
      if (type === 'boolean' && (text === 'true' || text === 'false')) return [name, text === 'true']
      return [name, type === 'string' || text === '' ? text : Number(text)]
    }),
  )

/** Reads a value in the encoding of lib0. @throws ApiError INVALID_ARGUMENT */
function readLib0(bytes: Uint8Array): object {
  try {
    const reader = new ByteReader(bytes, { valuesMax })
    skipAny(reader)
    if (reader.left > 0) throw new MalformedUpdateError('bytes follow the end of the value')
    return decodeAny(bytes) as object
  } catch (error) {
    if (!(error instanceof MalformedUpdateError)) throw error
    throw invalid('request/malformed', `the body is not a value in the encoding of lib0: ${error.message}`)
  }
}

/** Runs a call if the caller may edit the document. The errors do not reveal to users which record is missing. */
async function authorized(
  { run }: YHubCall,
  data: unknown,
  ids: Place,
  caller: KeyCaller | UserCaller,
  services: Services,
): Promise<object> {
  try {
    // The history has deleted content and the ids of all authors, which viewers do not get.
    if (caller.level === 'user') await services.agents.require(caller, editorAddress(caller, ids), 'editor')
    await services.attribution.require(caller.tenant.workspaceId)
    return await run(data, { caller, address: await versionedAddress(ids, caller, services), services })
  } catch (error) {
    throw caller.level === 'user' ? await toAgentError(error, ids, caller, services) : error
  }
}
