import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../base/errors.ts'
import type { AuthTokenRecord, WorkspaceRecord } from '../../directory/store/records.ts'
import type { Tenant } from '../../model/address.ts'
import type { AgentTraits, Identity } from '../identity.ts'
import {
  type CredentialOptions,
  invalidCredentials,
  readHeader,
  requireHeader,
} from './credential-headers.ts'
import { timingSafeEqualText, timingSafeIndexOf } from './timing-safe.ts'

/** A backend with a valid API key and a valid auth token. It may do everything within its tenant. */
export interface KeyCaller {
  readonly level: 'key'
  readonly tenant: Tenant
  /** The auth token of the request. Null if the request has no token because none is required. */
  readonly authToken: string | null
  /** Time at which a replaced auth token becomes invalid, in epoch milliseconds. Infinity for a current token. */
  readonly validUntil: number
}

/**
 * Checks the credentials that a request repeats in its body.
 * @throws ApiError UNAUTHENTICATED unless they equal the credentials of the caller. If the caller has no auth
 * token, only the API keys are compared
 */
export function checkBodyCredentials(
  { tenant, authToken }: KeyCaller,
  repeated: { readonly apiKey: string; readonly authToken: string },
): void {
  // Compares both values in every case, so that the duration does not reveal which one differs.
  const same = [
    timingSafeEqualText(tenant.apiKey, repeated.apiKey),
    timingSafeEqualText(authToken ?? repeated.authToken, repeated.authToken),
  ]
  if (same.includes(false))
    throw new ApiError(
      'auth/credentials-mismatch',
      'the credentials in the body differ from those in the headers; send the same ones in both',
    )
}

export const apiKeyHeader = { name: 'x-service-api-key', what: 'API key' } as const
export const authTokenHeader = { name: 'x-service-auth-token', what: 'auth token' } as const

interface Accepted extends Omit<KeyCaller, 'level'> {
  /** Domains whose pages may use the auth token. If empty, pages of all domains may use it. */
  readonly domains: readonly string[]
}

/**
 * Compared with the given token if the API key is unknown. The check then takes about as long as a check with
 * a wrong token.
 */
const noTokens = ['']

/**
 * Authenticates a backend by its API key and auth token.
 * @throws ApiError INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED; see `Authenticator`
 */
async function authenticateKey(headers: IncomingHttpHeaders, options: CredentialOptions): Promise<KeyCaller> {
  const accepted = await acceptedOf(headers, options)
  const { origin } = headers
  const { tenant, domains } = accepted
  if (origin !== undefined && !(await options.origins.isAllowed(tenant, origin, domains))) {
    options.onRefusal('wrong_origin')
    throw new ApiError(
      'auth/origin-not-allowed',
      'pages of this origin may not use the API key; allow its domain with /v2/workspace/domains/add',
    )
  }
  return { level: 'key', tenant, authToken: accepted.authToken, validUntil: accepted.validUntil }
}

async function acceptedOf(headers: IncomingHttpHeaders, options: CredentialOptions): Promise<Accepted> {
  const { tenants, clock, defaultTenant, onRefusal } = options
  const given = [apiKeyHeader, authTokenHeader].map((header) => readHeader(headers, header))
  if (defaultTenant !== null && given.every((value) => value === null))
    return { tenant: defaultTenant, authToken: null, validUntil: Number.POSITIVE_INFINITY, domains: [] }
  const apiKey = requireHeader(headers, apiKeyHeader, onRefusal)
  const authToken = requireHeader(headers, authTokenHeader, onRefusal)
  const tenant = await tenants.tenantOf(apiKey)
  const records = tenant === null ? [] : await tenants.validTokens(tenant, clock.now())
  const record = matching(records, authToken)
  if (tenant !== null && record !== undefined) {
    const { domains, validUntil = Number.POSITIVE_INFINITY } = record
    return { tenant, authToken, validUntil, domains }
  }
  throw invalidCredentials('the API key or the auth token is not valid; check both headers', onRefusal)
}

function matching<Token extends AuthTokenRecord>(
  records: readonly Token[],
  authToken: string,
): Token | undefined {
  const tokens = records.map(({ token }) => token)
  return records[timingSafeIndexOf(tokens.length === 0 ? noTokens : tokens, authToken)]
}

/**
 * A backend with the id and the token of a workspace. It manages the API keys of the workspace, and their
 * tokens.
 */
export interface WorkspaceCaller {
  readonly level: 'workspace'
  readonly workspaceId: string
}

export const workspaceIdHeader = { name: 'x-service-workspace-id', what: 'workspace id' } as const
export const workspaceAuthTokenHeader = {
  name: 'x-service-workspace-auth-token',
  what: 'workspace auth token',
} as const

/**
 * Authenticates a backend by the id and the token of a workspace.
 * @throws ApiError INVALID_ARGUMENT, NOT_FOUND, UNAUTHENTICATED; see `Authenticator`
 */
async function authenticateWorkspace(
  headers: IncomingHttpHeaders,
  { tenants, clock, defaultTenant, onRefusal }: CredentialOptions,
): Promise<WorkspaceCaller> {
  const given = [workspaceIdHeader, workspaceAuthTokenHeader].map((header) => readHeader(headers, header))
  if (defaultTenant !== null && given.every((value) => value === null))
    return { level: 'workspace', workspaceId: defaultTenant.workspaceId }
  const id = requireHeader(headers, workspaceIdHeader, onRefusal)
  const token = requireHeader(headers, workspaceAuthTokenHeader, onRefusal)
  const workspace = await tenants.workspace(id)
  // The tokens are compared even if the workspace does not exist, so that both cases take equally long.
  const matches = timingSafeIndexOf(validTokens(workspace, clock.now()), token) !== -1
  if (workspace !== null && matches) return { level: 'workspace', workspaceId: id }
  const message = 'the workspace id or the workspace auth token is not valid'
  const refusal = invalidCredentials(message, onRefusal)
  // Both cases have the same message. Only the status differs, as the specification requires.
  throw workspace === null ? new ApiError('workspace/not-found', message) : refusal
}

/** Returns the valid tokens of a workspace, including replaced ones. */
function validTokens(workspace: WorkspaceRecord | null, now: number): readonly string[] {
  if (workspace === null) return ['']
  const retired = (workspace.retiredTokens ?? []).filter(({ validUntil }) => validUntil > now)
  return [workspace.authToken, ...retired.map(({ token }) => token)]
}

/** The operator of this server. Only this caller may create workspaces. */
interface OperatorCaller {
  readonly level: 'operator'
}

/** Returns whether a token opens the metrics: the metrics token, or the token of the operator. */
export const opensMetrics = (
  { metricsToken, adminToken }: { readonly metricsToken: string | null; readonly adminToken: string | null },
  given: string,
): boolean => [metricsToken, adminToken].some((token) => token !== null && timingSafeEqualText(given, token))

export const adminTokenHeader = { name: 'x-service-admin-token', what: 'admin token' } as const

/**
 * Authenticates the operator.
 * @throws ApiError FAILED_PRECONDITION, INVALID_ARGUMENT, UNAUTHENTICATED; see `Authenticator`
 */
export async function authenticateOperator(
  headers: IncomingHttpHeaders,
  { adminToken, onRefusal }: Pick<CredentialOptions, 'adminToken' | 'onRefusal'>,
): Promise<OperatorCaller> {
  if (adminToken === null)
    throw new ApiError(
      'auth/admin-token-unset',
      'this server has no admin token; start it with WEFT_ADMIN_TOKEN',
    )
  const given = requireHeader(headers, adminTokenHeader, onRefusal)
  if (timingSafeEqualText(adminToken, given)) return { level: 'operator' }
  throw invalidCredentials('the admin token is not valid; it is the value of WEFT_ADMIN_TOKEN', onRefusal)
}

export type AgentIdentity = Identity & { readonly agent: AgentTraits }

/**
 * An agent with a valid token. It may do what its rights on a document permit, and only with operations that are open
 * to agents.
 */
export interface AgentCaller {
  readonly level: 'agent'
  readonly tenant: Tenant
  readonly identity: AgentIdentity
  /** Origin of the page that sends the call; undefined if the client is not a page. */
  readonly origin: string | undefined
}

/** A user with a valid token. Only the calls of y/hub accept it; they check the rights on the document. */
export interface UserCaller extends Omit<AgentCaller, 'level' | 'identity'> {
  readonly level: 'user'
  readonly identity: Identity
}

/** The types of callers, by the level of their credentials. */
export interface CallerByLevel {
  readonly key: KeyCaller
  readonly workspace: WorkspaceCaller
  readonly operator: OperatorCaller
}

export type AuthLevel = keyof CallerByLevel
export type AnyCaller = CallerByLevel[AuthLevel] | AgentCaller
/** A caller of an operation, or of another path. */
export type Caller = AnyCaller | UserCaller
/** A caller within one tenant. */
export type TenantCaller = KeyCaller | AgentCaller

/** Returns whether a caller acts within one tenant. */
export const isInTenant = (caller: Caller): caller is TenantCaller | UserCaller =>
  caller.level !== 'workspace' && caller.level !== 'operator'

/** Returns whether a caller has credentials of the given level. */
export const hasAuthLevel = <Level extends AuthLevel>(
  caller: AnyCaller,
  level: Level,
): caller is CallerByLevel[Level] => caller.level === level

const checks: {
  readonly [Level in AuthLevel]: (
    headers: IncomingHttpHeaders,
    options: CredentialOptions,
  ) => Promise<CallerByLevel[Level]>
} = { key: authenticateKey, workspace: authenticateWorkspace, operator: authenticateOperator }

/** Determines the caller from the headers of a request. */
export class Authenticator {
  readonly #options: CredentialOptions

  constructor(options: CredentialOptions) {
    this.#options = options
  }

  /**
   * Authenticates a call.
   * @throws ApiError INVALID_ARGUMENT if a header is missing
   * @throws ApiError UNAUTHENTICATED if the credentials are invalid; an unknown name and a wrong token give
   * the same message
   * @throws ApiError PERMISSION_DENIED if the call is from a page whose domain is not allowed
   * @throws ApiError FAILED_PRECONDITION if the level is `operator` and the server has no operator token
   */
  callerOf<Level extends AuthLevel>(
    level: Level,
    headers: IncomingHttpHeaders,
  ): Promise<CallerByLevel[Level]> {
    return checks[level](headers, this.#options)
  }
}
