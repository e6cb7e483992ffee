import type { AuthLevel } from '../../core/access/credentials/authenticator.ts'
import type { DocumentedError, Operation } from '../operation.ts'

/** Errors of every operation of a level. */
const levelErrors: Readonly<Record<AuthLevel, readonly DocumentedError[]>> = {
  key: [],
  workspace: [{ code: 'workspace/not-found', when: 'the workspace does not exist' }],
  operator: [{ code: 'auth/admin-token-unset', when: 'the server has no admin token' }],
}

/** Errors of every operation that is open to agents. */
const agentErrors: readonly DocumentedError[] = [
  { code: 'agent/role-required', when: 'the role or the policy of an agent does not permit the call' },
  { code: 'document/not-found', when: 'an agent has no role on the document' },
  { code: 'document/disabled', when: 'an agent names a disabled document' },
]

/** Returns the errors that follow from the callers of an operation. */
export const callerErrors = ({
  auth,
  agents,
}: Pick<Operation, 'auth' | 'agents'>): readonly DocumentedError[] =>
  agents === undefined || agents.role === 'each' ? levelErrors[auth] : [...levelErrors[auth], ...agentErrors]
