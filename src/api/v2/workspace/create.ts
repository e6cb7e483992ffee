import type { NewWorkspace } from '../../../directory/workspaces.ts'
import { operation } from '../../operation.ts'
import type { From } from '../../schema.ts'
import { invalidAt } from '../../validator.ts'
import { showWorkspace, workspaceMembers, workspaceProperties } from '../../workspace-schema.ts'

const nameLengthMax = 200
/** RFC 5321 4.5.3.1, with the `@`. */
const emailLengthMax = 320

const email = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u

const request = {
  type: 'object',
  required: ['ownerEmail'],
  properties: {
    ownerEmail: {
      type: 'string',
      maxLength: emailLengthMax,
      description: 'E-mail address of the owner, who may have several workspaces.',
      examples: ['ada@example.com'],
    },
    name: {
      type: 'string',
      minLength: 1,
      maxLength: nameLengthMax,
      description: 'Name of the owner; what stands before the @ unless given.',
    },
    workspaceName: {
      type: 'string',
      minLength: 1,
      maxLength: nameLengthMax,
      description: 'Name of the workspace; `{name} workspace` unless given.',
    },
    avatar: {
      type: 'string',
      maxLength: 2000,
      description: 'URL (http or https) of a picture of the owner.',
    },
  },
} as const

const response = {
  type: 'object',
  required: [...workspaceMembers, 'apiKey', 'apiKeyAuthToken'],
  properties: {
    ...workspaceProperties,
    apiKey: { type: 'string', description: 'The API key that the workspace is made with.' },
    apiKeyAuthToken: { type: 'string', description: 'Auth token of that API key.' },
  },
} as const

export const createWorkspace = operation({
  path: '/v2/workspace/create',
  auth: 'operator',
  effect: 'once',
  audited: 'admin',
  makes: ['id', 'apiKey'],
  summary: 'Make a workspace',
  description: 'Makes a workspace with one API key for testing and one auth token for that.',
  request,
  response,
  errors: [{ status: 'FAILED_PRECONDITION', when: 'the server has no admin token' }],
  async handler(data, { services }) {
    const { workspaces, tenants } = services
    const { workspace, apiKey, authToken } = await workspaces.create(newWorkspace(data))
    const { items } = await tenants.apiKeys(workspace.id)
    const shown = showWorkspace(workspace, items)
    return { message: 'Workspace created.', data: { ...shown, apiKey, apiKeyAuthToken: authToken } }
  },
})

function newWorkspace({ ownerEmail, avatar = '', ...names }: From<typeof request>): NewWorkspace {
  if (!email.test(ownerEmail))
    throw invalidAt({ path: '/data/ownerEmail', message: 'must be an e-mail address' })
  if (avatar !== '' && !isWebUrl(avatar))
    throw invalidAt({ path: '/data/avatar', message: 'must be an http(s) URL' })
  const { name = ownerEmail.slice(0, ownerEmail.indexOf('@')) } = names
  const { workspaceName = `${name} workspace` } = names
  return { name: workspaceName, owner: { email: ownerEmail, name, avatar } }
}

const isWebUrl = (text: string): boolean =>
  URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
