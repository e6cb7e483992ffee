import { type FromSchema, json } from '../../../core/base/schema.ts'
import type { NewWorkspace } from '../../../core/directory/tenants/workspace-service.ts'
import { defineOperation } from '../../operation.ts'
import { storedBytesMax, toWorkspaceResponse, workspaceProperties } from '../../schemas/workspace-schema.ts'
import { invalidAt } from '../../validator.ts'

const nameLengthMax = 200
/** Maximum length of an e-mail address, including the `@` (RFC 5321 4.5.3.1). */
const emailLengthMax = 320

const email = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u

const request = json.object(
  {
    ownerEmail: json.text('E-mail address of the owner, who may have several workspaces.', {
      maxLength: emailLengthMax,
      examples: ['ada@example.com'],
    }),
  },
  {
    name: json.text('Name of the owner; default: the part of the email before the @.', {
      minLength: 1,
      maxLength: nameLengthMax,
    }),
    workspaceName: json.text('Name of the workspace; default: `{name} workspace`.', {
      minLength: 1,
      maxLength: nameLengthMax,
    }),
    avatar: json.text('URL (http or https) of a picture of the owner.', { maxLength: 2000 }),
    storedBytesMax,
  },
)

const response = json.object({
  ...workspaceProperties,
  apiKey: json.text('The first API key of the workspace.'),
  apiKeyAuthToken: json.text('Auth token of that API key.'),
})

export const createWorkspace = defineOperation({
  path: '/v2/workspace/create',
  auth: 'operator',
  effect: 'once',
  audited: 'admin',
  makes: ['id', 'apiKey'],
  summary: 'Make a workspace',
  description: 'Creates a workspace with one API key for testing and its auth token.',
  request,
  response,
  async handler(data, { services }) {
    const { workspaces, tenants } = services
    const { workspace, apiKey, authToken } = await workspaces.create(newWorkspace(data))
    const { items } = await tenants.apiKeys(workspace.id)
    const shown = toWorkspaceResponse(workspace, items)
    return { message: 'Workspace created.', data: { ...shown, apiKey, apiKeyAuthToken: authToken } }
  },
})

function newWorkspace({
  ownerEmail,
  avatar = '',
  storedBytesMax: bytesMax,
  ...names
}: FromSchema<typeof request>): NewWorkspace {
  if (!email.test(ownerEmail))
    throw invalidAt({ path: '/data/ownerEmail', message: 'must be an e-mail address' })
  if (avatar !== '' && !isWebUrl(avatar))
    throw invalidAt({ path: '/data/avatar', message: 'must be an http(s) URL' })
  const { name = ownerEmail.slice(0, ownerEmail.indexOf('@')) } = names
  const { workspaceName = `${name} workspace` } = names
  const owner = { email: ownerEmail, name, avatar }
  return { name: workspaceName, owner, ...(bytesMax !== undefined && { storedBytesMax: bytesMax }) }
}

const isWebUrl = (text: string): boolean =>
  URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
