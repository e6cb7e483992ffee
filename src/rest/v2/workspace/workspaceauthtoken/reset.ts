import { json } from '../../../../core/base/schema.ts'
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
  request: json.object({}, { graceSeconds: { ...graceSeconds, examples: [86_400] } }),
  response: json.object({
    workspaceId: json.text('Id of the workspace.'),
    newWorkspaceAuthToken: json.text('The new auth token of the workspace.'),
  }),
  async handler({ graceSeconds: seconds = 0 }, { caller: { workspaceId }, services: { workspaces } }) {
    const newWorkspaceAuthToken = await workspaces.resetWorkspaceToken(workspaceId, {
      graceSeconds: seconds,
    })
    return { message: 'Workspace auth token replaced.', data: { workspaceId, newWorkspaceAuthToken } }
  },
})
