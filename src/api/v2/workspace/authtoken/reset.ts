import { domainList, normalizeDomains } from '../../../domains-schema.ts'
import { operation } from '../../../operation.ts'
import {
  apiKeyOfWorkspace,
  authTokenEntry,
  noSuchApiKeyError,
  showAuthToken,
} from '../../../workspace-schema.ts'

/** 30 days. */
const graceSecondsMax = 2_592_000

const request = {
  type: 'object',
  required: ['apiKey'],
  properties: {
    apiKey: apiKeyOfWorkspace,
    graceSeconds: {
      type: 'integer',
      minimum: 0,
      maximum: graceSecondsMax,
      default: 0,
      description: 'Time for which the replaced token stays good.',
    },
    domains: {
      ...domainList,
      description: `Domains of the pages that may use the new token; none: any. Without it those of the token replaced. ${domainList.description}`,
    },
  },
} as const

const response = {
  type: 'object',
  required: ['apiKey', 'newAuthToken'],
  properties: { apiKey: { type: 'string' }, newAuthToken: authTokenEntry },
} as const

export const resetAuthToken = operation({
  path: '/v2/workspace/authtoken/reset',
  auth: 'workspace',
  effect: 'once',
  summary: 'Replace the auth token of an API key',
  description:
    'Of the tokens that were good before none is good for longer than `graceSeconds`. A token that the ' +
    'configuration of the server names is put back at its next start.',
  request,
  response,
  errors: [noSuchApiKeyError],
  async handler(
    { apiKey, graceSeconds = 0, domains },
    { caller: { workspaceId }, services: { workspaces } },
  ) {
    const token = await workspaces.resetAuthToken(
      { workspaceId, apiKey },
      { graceSeconds, ...(domains && { domains: normalizeDomains(domains, '/data/domains') }) },
    )
    return { message: 'Auth token replaced.', data: { apiKey, newAuthToken: showAuthToken(token) } }
  },
})
