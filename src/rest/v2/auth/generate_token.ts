import type { AgentTraits, TokenGrant } from '../../../core/access/identity.ts'
import { agentClaimLimits } from '../../../core/access/tokens/claims.ts'
import { tokenLengthMax } from '../../../core/access/tokens/realtime-tokens.ts'
import { ApiError, invalid } from '../../../core/base/errors.ts'
import { type FromSchema, json } from '../../../core/base/schema.ts'
import { agentPolicies } from '../../../core/config/agent-policies.ts'
import { idBytesMax, type Tenant } from '../../../core/model/address.ts'
import { defineOperation, warningsOf } from '../../operation.ts'
import { grantedResource, organizationOfResource } from '../../schemas/permission-schema.ts'
import type { Services } from '../../services.ts'
import { invalidAt } from '../../validator.ts'

const lifetimeSecondsMax = 172_800

const request = json.object(
  {
    userId: json.id(),
    userProperties: json.object(
      {
        name: json.text('Display name.', { maxLength: idBytesMax }),
        email: { type: 'string', maxLength: 1_000 },
      },
      { isAdmin: json.flag('Makes the user an editor of all documents of the API key.') },
    ),
  },
  {
    permissions: json.object(
      { resources: json.list(grantedResource, { maxItems: 500 }) },
      {},
      {
        description:
          'Permissions of the token; if a resource occurs twice, the last entry counts. Without it, the token has the ' +
          'permissions of its user.',
        examples: [{ resources: grantedResource.examples }],
      },
    ),
    agent: json.flag(
      'True: the token is for a program that acts by itself. It opens realtime connections, and the operations that ' +
        'are open to agents accept it. Not with `isAdmin`.',
    ),
    model: json.text(
      'Name of the model, which the history of documents and the audit log show. Needs `agent`.',
      { maxLength: agentClaimLimits.model },
    ),
    onBehalfOf: json.id(
      'User for whom the agent acts. It does not give the agent the permissions of this user. If the tokens of this ' +
        'user are revoked, the token ends too. Needs `agent`.',
      { maxLength: agentClaimLimits.onBehalfOf },
    ),
    policy: json.choice(
      agentPolicies,
      'Restricts the agent, in addition to its role: `read-only` to reading, `suggest-only` to branches and comments, ' +
        '`no-delete` to changes that delete no content. Needs `agent`.',
    ),
    protected: json.list(json.text('', { minLength: 1, maxLength: agentClaimLimits.nameLength }), {
      maxItems: agentClaimLimits.protectedNames,
      description:
        'Names of marks and of attributes of blocks. The agent must not change the content that has one of them, or add ' +
        'such content; on a websocket, it is a viewer. Needs `agent`.',
    }),
    expiresInSeconds: {
      type: 'integer',
      minimum: 60,
      maximum: lifetimeSecondsMax,
      default: lifetimeSecondsMax,
    },
    format: json.choice(
      ['weft', 'y-sweet'],
      "`y-sweet`: the response is a token for Y-Sweet's client, for one `document`, or without `docId`.",
      { default: 'weft' },
    ),
    document: json.object(
      {
        organizationId: json.id(),
        documentId: json.id(),
      },
      { editorId: { type: 'string', format: 'id', default: 'main' } },
      { description: 'Document of a token of format `y-sweet`; it grants no permission.' },
    ),
  },
)

const response = json.object(
  {
    token: json.text('A JWT (HS256) for the realtime endpoint, and for the operations that agents may call.'),
    expiresAt: json.integer('Unix time in seconds.'),
  },
  {
    url: json.text('Only for format `y-sweet`: start of the websocket URL.'),
    baseUrl: json.text('Only for format `y-sweet`: URL of the server.'),
    docId: json.text('Only for format `y-sweet`: name of the document for its client.'),
  },
)

export const generateToken = defineOperation({
  path: '/v2/auth/generate_token',
  auth: 'key',
  effect: 'reads',
  strict: true,
  warns: true,
  audited: 'admin',
  summary: 'Make a realtime token',
  description:
    'Creates a token with which a user opens realtime connections to the documents of the API key. Hand it to the ' +
    'browser instead of your credentials. With `agent`, it is for a program, which may also call some operations.',
  request,
  response,
  async handler(
    {
      userId,
      userProperties,
      permissions,
      expiresInSeconds = lifetimeSecondsMax,
      format = 'weft',
      document,
      ...traits
    },
    { caller, services },
  ) {
    const agent = agentOf(traits)
    const place = format === 'y-sweet' ? ySweetPlace(document, services.publicUrl) : {}
    const now = services.clock.now()
    const { name, email, isAdmin = false } = userProperties
    if (agent !== null && isAdmin)
      throw invalidAt({ path: '/data/userProperties/isAdmin', message: 'must not be true with agent' })
    const { token, expiresAt } = await services.tokens.issue({
      tenant: caller.tenant,
      userId,
      name,
      email,
      admin: isAdmin,
      grants:
        permissions === undefined ? null : permissions.resources.map((each, index) => grantOf(each, index)),
      agent,
      expiresAt: now + expiresInSeconds * 1000,
    })
    if (token.length > tokenLengthMax)
      throw invalid(
        'auth/token-too-long',
        `the token would be longer than ${tokenLengthMax} characters: name fewer resources`,
      )
    const isUnlimited = permissions === undefined && !isAdmin && services.config.defaultAccess === 'public'
    return {
      message: 'Token generated.',
      data: { token, expiresAt, ...place },
      ...warningsOf(isUnlimited && !(await isDecidedByBackend(services, caller.tenant)) ? [opensPublic] : []),
    }
  },
})

const opensPublic =
  'the token has no permissions, so it opens every public document of the API key, and documents are public by ' +
  'default; limit it with permissions, or make documents restricted with the option WEFT_DEFAULT_ACCESS'

/** Returns whether the callback `authorize` decides about users without grants. */
async function isDecidedByBackend({ webhookConfigs }: Services, tenant: Tenant): Promise<boolean> {
  try {
    return (await webhookConfigs.callbacks(tenant)).authorize !== null
  } catch (error) {
    if (error instanceof ApiError && error.status === 'NOT_FOUND') return false
    throw error
  }
}

/** Names of the members that only the token of an agent can have. */
const traitNames = ['model', 'onBehalfOf', 'policy', 'protected'] as const

type AgentRequest = Pick<FromSchema<typeof request>, 'agent' | (typeof traitNames)[number]>

/** @throws ApiError INVALID_ARGUMENT if the request describes an agent without `agent` */
function agentOf({ agent = false, ...traits }: AgentRequest): AgentTraits | null {
  const { model = null, onBehalfOf = null, policy, protected: names } = traits
  const policies = policy === undefined ? [] : [policy]
  if (agent) return { model, onBehalfOf, policies, ...(names !== undefined && { protected: names }) }
  const given = traitNames.find((name) => traits[name] !== undefined)
  if (given !== undefined) throw invalidAt({ path: `/data/${given}`, message: 'needs agent: true' })
  return null
}

/**
 * Returns the URLs for the Y-Sweet client. The client appends the document id to the URL, which results in a
 * path of this server.
 */
function ySweetPlace(document: FromSchema<typeof request>['document'], publicUrl: string) {
  const place = { url: `${publicUrl.replace(/^http/i, 'ws')}/sync`, baseUrl: publicUrl }
  if (document === undefined) return place
  const { organizationId, documentId, editorId = 'main' } = document
  return { ...place, docId: [organizationId, documentId, editorId].map(encodeURIComponent).join('/') }
}

function grantOf(entry: FromSchema<typeof grantedResource>, index: number): TokenGrant {
  const { type, id, accessRole = 'editor', expiresAt } = entry
  const organizationId = organizationOfResource(entry, index)
  return { type, id, organizationId, accessRole, ...(expiresAt !== undefined && { expiresAt }) }
}
