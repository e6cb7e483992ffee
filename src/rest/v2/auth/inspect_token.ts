import type { Identity } from '../../../core/access/identity.ts'
import { roleOn } from '../../../core/access/roles/roles.ts'
import { TokenRejectedError, tokenLengthMax } from '../../../core/access/tokens/realtime-tokens.ts'
import { json } from '../../../core/base/schema.ts'
import { agentPolicies } from '../../../core/config/agent-policies.ts'
import { accessRoles } from '../../../core/directory/store/records.ts'
import { documentAddress, type Tenant } from '../../../core/model/address.ts'
import { defineOperation } from '../../operation.ts'
import type { Services } from '../../services.ts'
import { invalidAt } from '../../validator.ts'

const response = json.object(
  { accepted: json.boolean('Whether a client can connect with this token now.') },
  {
    reason: json.text(
      'Why the server rejects the token: `malformed`, `signature`, `expired`, `claims`, `tenant`, `revoked`, ' +
        '`provider`, or `other_key`, if the token is for another API key.',
      { examples: ['expired'] },
    ),
    message: json.text('The reason as a sentence.'),
    userId: json.text('User of an accepted token, as in all further members.'),
    name: json.text(),
    email: json.text(),
    isAdmin: json.boolean('Whether the user is an editor of all documents.', { examples: [false] }),
    agent: json.object(
      {
        model: json.orNull(json.text()),
        onBehalfOf: json.orNull(json.text()),
        policies: json.list(json.choice(agentPolicies), {
          description: 'Policies of the token and of the server. All of them apply.',
        }),
      },
      { protected: json.list(json.text(), { description: 'Names of protected marks and attributes.' }) },
      { description: 'The agent that the token describes; absent if it is for a person.' },
    ),
    issuedAt: json.integer('Epoch milliseconds; 0: the token has no `iat`.'),
    expiresAt: json.integer('Epoch milliseconds.', { examples: [1_767_225_600_000] }),
    resources: json.list(
      json.object(
        {
          type: json.choice(['organization', 'folder', 'document']),
          id: json.text(),
          organizationId: json.text(),
          accessRole: json.choice(accessRoles),
        },
        { expiresAt: json.number('Epoch seconds.') },
      ),
      { description: 'Permissions of the token; absent if it has all permissions of its user.' },
    ),
    accessRole: json.choice(
      ['none', ...accessRoles],
      'Present role on the requested document; absent if the request names no document.',
    ),
    documentState: json.choice(
      ['open', 'disabled', 'deleted'],
      '`deleted`: it is being removed. A document that does not exist is `open`.',
    ),
  },
)

export const inspectToken = defineOperation({
  path: '/v2/auth/inspect_token',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Inspect a realtime token',
  description:
    'Returns the user, the expiry and the permissions of a token of the API key, or why the server rejects the token. ' +
    'For a document, it also returns the present role. The server neither stores nor logs the token. It does not check ' +
    'whether the domain of a page may use the API key.',
  request: json.object(
    { token: json.text('The token, as clients send it.', { minLength: 1, maxLength: tokenLengthMax }) },
    {
      organizationId: json.id('Organization of the document.'),
      documentId: json.id('Document whose role is computed.'),
    },
  ),
  response,
  async handler({ token, organizationId, documentId }, { caller, services }) {
    if ((organizationId === undefined) !== (documentId === undefined)) {
      const path = organizationId === undefined ? '/data/organizationId' : '/data/documentId'
      throw invalidAt({ path, message: 'is missing: a document has an organizationId and a documentId' })
    }
    const identity = await identityOf(token, caller.tenant, services)
    if (identity instanceof TokenRejectedError) {
      const { reason, message } = identity
      return { message: 'Token rejected.', data: { accepted: false, reason, message } }
    }
    if (identity === 'other_key')
      return { message: 'Token rejected.', data: { accepted: false, ...otherKey } }
    const { userId, name, email, admin: isAdmin, issuedAt, expiresAt, grants, agent } = identity
    const role =
      organizationId === undefined || documentId === undefined
        ? {}
        : await roleOf(identity, { organizationId, documentId }, services)
    const data = {
      accepted: true,
      userId,
      name,
      email,
      isAdmin,
      issuedAt: Math.floor(issuedAt),
      expiresAt: Math.floor(expiresAt),
      ...(grants !== null && { resources: grants }),
      ...(agent !== null && { agent }),
      ...role,
    }
    return { message: 'Token accepted.', data }
  },
})

const otherKey = { reason: 'other_key', message: 'the token is for another API key' } as const

/**
 * Returns the identity of a token, or the error if it is rejected. `other_key`: the token is valid, but for
 * another API key.
 */
async function identityOf(
  token: string,
  { workspaceId, apiKey }: Tenant,
  { tokens }: Services,
): Promise<Identity | TokenRejectedError | 'other_key'> {
  try {
    const identity = await tokens.verify(token)
    const isOwn = identity.tenant.workspaceId === workspaceId && identity.tenant.apiKey === apiKey
    return isOwn ? identity : 'other_key'
  } catch (error) {
    if (error instanceof TokenRejectedError) return error
    throw error
  }
}

/** Returns the role that a client gets if it connects to the document now. */
async function roleOf(
  identity: Identity,
  { organizationId, documentId }: { readonly organizationId: string; readonly documentId: string },
  { accessReader, clock }: Services,
) {
  // The role is the same for all editors of a document, so any editor can be used.
  const address = documentAddress(identity.tenant, { organizationId, documentId, editorId: 'main' })
  const access = await accessReader.read(address, documentId, identity.userId)
  const { role } = roleOn(identity, address, access, clock.now())
  return { accessRole: role ?? 'none', documentState: access.state } as const
}
