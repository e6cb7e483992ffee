import { Command } from 'commander'
import { readTokenFile } from '../capabilities/backups/storage/backup.ts'
import { ConfigError } from '../core/config/read-config.ts'
import { requireUrl } from './location/location.ts'

interface Flags {
  readonly url?: string
  readonly token?: string
  readonly tokenFile?: string
}

/** Creates the command `weft mcp`, which MCP clients start. */
export const mcpCommand = (): Command =>
  new Command('mcp')
    .description(
      'Connect an MCP client on standard input and output with a running server, as the agent of a token.',
    )
    .option('--url <url>', 'URL of the running server (default: WEFT_URL).')
    .option('--token <token>', 'Token of the agent (default: WEFT_AGENT_TOKEN).')
    .option('--token-file <file>', 'File with the token; a list of processes does not show it.')
    .action(runMcp)

/** Loads the code of the proxy only when it is needed, because the server does not need it. */
async function runMcp(flags: Flags): Promise<void> {
  const url = requireUrl(flags)
  const token =
    flags.tokenFile === undefined
      ? (flags.token ?? process.env.WEFT_AGENT_TOKEN)
      : await readTokenFile(flags.tokenFile)
  if (token === undefined || token === '')
    throw new ConfigError('the token of an agent is missing', {
      hint: 'create one with agent: true in /v2/auth/generate_token, and set WEFT_AGENT_TOKEN',
    })
  const { runStdioProxy } = await import('../capabilities/agents/stdio-proxy.ts')
  await runStdioProxy({ url, token, report: (problem) => process.stderr.write(`weft: ${problem}\n`) })
}
