import { defineOperation } from '../../../operation.ts'
import { graceSeconds } from '../../../schemas/workspace-schema.ts'

export const resetWorkspaceAuthToken = defineOperation({
  path: '/v2/workspace/workspaceauthtoken/reset',
  auth: 'workspace',
  effect: 'once',
  audited: 'admin',
  summary: 'Replace the auth token of the workspace',
  description:
    'Earlier tokens of the workspace stay valid for at most `graceSeconds`. The next start of the server restores a ' +
    'token that its configuration names: put the new token there.',
  // The form of the API reference is filled in with this example. Without it, `graceSeconds` would be 0, and
  // a reader who sends the form would lock out all users.
  request: { type: 'object', properties: { graceSeconds: { ...graceSeconds, examples: [86_400] } } },
  response: {
    type: 'object',
    required: ['workspaceId', 'newWorkspaceAuthToken'],
    properties: {
      workspaceId: { type: 'string', description: 'Id of the workspace.' },
      newWorkspaceAuthToken: { type: 'string', description: 'The new auth token of the workspace.' },
    },
  },
  errors: [{ status: 'NOT_FOUND', code: 'workspace/not-found', when: 'the workspace does not exist' }],
  async handler({ graceSeconds: seconds = 0 }, { caller: { workspaceId }, services: { workspaces } }) {
    const newWorkspaceAuthToken = await workspaces.resetWorkspaceToken(workspaceId, {
      graceSeconds: seconds,
    })
    return { message: 'Workspace auth token replaced.', data: { workspaceId, newWorkspaceAuthToken } }
  },
})
