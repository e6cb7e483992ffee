import type { AuthLevel } from '../../access/credentials/authenticator.ts'
import type { DocumentedError } from '../operation.ts'

/** Errors of every operation of a level. */
export const levelErrors: Readonly<Record<AuthLevel, readonly DocumentedError[]>> = {
  key: [],
  workspace: [{ status: 'NOT_FOUND', code: 'workspace/not-found', when: 'the workspace does not exist' }],
  operator: [
    {
      status: 'FAILED_PRECONDITION',
      code: 'auth/admin-token-unset',
      when: 'the server has no admin token',
    },
  ],
}
