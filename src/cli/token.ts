import { Command, InvalidArgumentError, Option } from 'commander'
import type { Identity, TokenGrant } from '../core/access/identity.ts'
import { RealtimeTokens } from '../core/access/tokens/realtime-tokens.ts'
import { systemClock } from '../core/base/clock.ts'
import type { Config } from '../core/config/config.ts'
import { ConfigError } from '../core/config/read-config.ts'
import { type AccessRole, accessRoles } from '../core/directory/store/records.ts'
import { credentialsOf } from '../core/directory/tenants/credentials-file.ts'
import { configOf, parseIdOption, printResult, withConfigFlags } from './command-line/command-io.ts'
import { noCredentials, requireStoredKey } from './location/store-location.ts'

interface Flags {
  readonly name?: string
  readonly email: string
  readonly admin?: true
  readonly organization?: string
  readonly document?: string
  readonly role: AccessRole
  readonly expiresIn: number
  readonly json?: true
}

/**
 * Creates the command `weft token`. It creates a realtime token with the secret in the data directory,
 * without a server.
 */
export function tokenCommand(): Command {
  return withConfigFlags(new Command('token'))
    .description('Create a realtime token for a user, without a server.')
    .argument('<userId>', 'Id of the user.', parseIdOption)
    .option('--name <name>', 'Display name (default: the id).')
    .option('--email <email>', 'E-mail address.', '')
    .option('--admin', 'Editor on all documents.')
    .option('--organization <id>', 'Only for this organization.', parseIdOption)
    .option('--document <id>', 'Only for this document of the organization.', parseIdOption)
    .addOption(new Option('--role <role>', 'Role there.').choices(accessRoles).default('editor'))
    .option('--expires-in <seconds>', 'Time until the token expires.', checkedSeconds, 172_800)
    .action(async (userId: string, flags: Flags) => {
      const issued = await mint(userId, flags, configOf({ ...flags }).config)
      printResult(flags.json ? JSON.stringify(issued) : issued.token)
    })
}

/**
 * Lookups that accept every tenant and know no revocations. The real lookups need the store, which a
 * running server may have opened.
 */
const unknown = {
  isTenant: () => Promise.resolve(true),
  revokedUntil: null,
  minted: null,
  foreign: null,
  agentPolicy: null,
}

async function mint(userId: string, flags: Flags, config: Config) {
  const { jwtSecret: secret, workspaceId, apiKey } = await credentialsOf(config)
  if (secret === undefined || workspaceId === undefined || apiKey === undefined) throw noCredentials(config)
  await requireStoredKey(config, { workspaceId, apiKey })
  const identity: Omit<Identity, 'issuedAt'> = {
    tenant: { workspaceId, apiKey },
    userId,
    name: flags.name ?? userId,
    email: flags.email,
    admin: flags.admin ?? false,
    grants: grantsOf(flags),
    agent: null,
    expiresAt: systemClock.now() + flags.expiresIn * 1000,
  }
  return new RealtimeTokens({ secret, previousSecret: null, clock: systemClock, ...unknown }).issue(identity)
}

function grantsOf({ organization, document, role }: Flags): readonly TokenGrant[] | null {
  if (organization === undefined && document === undefined) return null
  if (organization === undefined) throw new ConfigError('--document needs --organization')
  const [type, id] =
    document === undefined ? (['organization', organization] as const) : (['document', document] as const)
  return [{ type, id, organizationId: organization, accessRole: role }]
}

function checkedSeconds(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of seconds.')
  return Number(text)
}
