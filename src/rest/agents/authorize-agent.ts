import { documentHidden } from '../../core/access/agents/agent-access.ts'
import type { AgentCaller, TenantCaller } from '../../core/access/credentials/authenticator.ts'
import { mustKeepContent } from '../../core/access/roles/roles.ts'
import { ApiError } from '../../core/base/errors.ts'
import { documentAddress } from '../../core/model/address.ts'
import { withoutEmails } from '../../core/model/named-users.ts'
import type { AgentRule, Operation } from '../operation.ts'
import type { Services } from '../services.ts'

/** Returns the data of a response for its caller: an agent gets no email addresses of users. */
export const withVisibleUsers = <Data>({ level }: Pick<TenantCaller, 'level'>, data: Data): Data =>
  level === 'agent' ? withoutEmails(data) : data

/** The ids of a call for agents. They are valid according to the request schema. */
interface CallIds {
  readonly organizationId?: string
  readonly documentId?: string
  readonly editorId?: string
}

/** Editor of calls that concern a document as a whole. Rights are the same in all editors that are not branches. */
const anyEditor = 'main'

/** @throws ApiError PERMISSION_DENIED unless the operation is open to agents */
export function requireAgentRule({ agents, path }: Pick<Operation, 'agents' | 'path'>): AgentRule {
  if (agents !== undefined) return agents
  throw new ApiError(
    'agent/operation-not-allowed',
    `agents must not call ${path}; call it from your backend with an API key`,
  )
}

/**
 * Checks that an agent may make a call. Must run again for each repeated call, before a stored response is returned.
 * @param data data that is valid according to the request schema
 * @throws ApiError as for `AgentAccess.require`
 */
export async function authorizeAgent(
  { role }: AgentRule,
  data: object,
  caller: AgentCaller,
  { agents }: Pick<Services, 'agents'>,
): Promise<void> {
  if (role === 'each') return
  const { organizationId, documentId, editorId = anyEditor }: CallIds = data
  if (organizationId === undefined || documentId === undefined)
    throw new TypeError('a call of an agent must name a document')
  await agents.require(caller, documentAddress(caller.tenant, { organizationId, documentId, editorId }), role)
}

/** The error for an agent that must not delete content. */
const deleteNotAllowed = (): ApiError =>
  new ApiError(
    'agent/delete-not-allowed',
    'the policy no-delete forbids the agent to delete content; insert content only',
  )

/** Returns the error for a change that deletes content; null if the caller may delete content. */
export const keepingOf = (caller: TenantCaller): ApiError | null =>
  caller.level === 'agent' && mustKeepContent(caller.identity) ? deleteNotAllowed() : null

/** Codes of missing records that an agent must not distinguish from documents without a role. */
const missing: readonly string[] = ['organization/not-found', 'document/not-found']

/**
 * Returns the error of a call of an agent or a user. It does not reveal which record is missing: by default, an agent without
 * grants has a role on documents that do not exist.
 */
export async function toAgentError(
  error: unknown,
  { organizationId = '', documentId = '' }: CallIds,
  { tenant }: Pick<AgentCaller, 'tenant'>,
  { documents }: Pick<Services, 'documents'>,
): Promise<unknown> {
  if (!(error instanceof ApiError)) return error
  if (missing.includes(error.code)) return documentHidden(documentId)
  if (error.code !== 'branch/not-found') return error
  const exists = documents.require({ ...tenant, organizationId }, documentId)
  return exists.then(
    () => error,
    () => documentHidden(documentId),
  )
}
