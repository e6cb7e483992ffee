import { Command } from 'commander'
import type { Config } from '../config.ts'
import { credentialsPath } from '../directory/credentials-file.ts'
import { createLog, type Log } from '../log.ts'
import type { RunningServer } from '../server.ts'
import { consoleLink } from './console.ts'
import { exitCodes } from './exit.ts'
import { credentialLines } from './notice.ts'
import { configOf, print, withConfigFlags } from './options.ts'

/** `weft serve`: what `weft` alone does too. */
export function serveCommand(): Command {
  return withConfigFlags(new Command('serve'))
    .description('Serve documents.')
    .action(async (flags: { json?: true }) => {
      const { config } = configOf(flags)
      const log = createLog(config.logLevel)
      leaveOnFault(log)
      const starting = start(config, log)
      stopOnSignal(starting, log)
      const server = await starting
      if (server.created) print(flags.json ? noticeAsJson(server) : firstStartNotice(server, config))
      log.info({ port: server.port, host: config.host, engine: config.engine }, 'listening')
      // Never with what is in the link: logs are kept, and read by others.
      if (!server.created) log.info({ port: server.port }, '`weft console` prints the link to the console')
    })
}

/** Loads what serves only when it serves: other commands start in a fraction of the time. */
async function start(config: Config, log: Log): Promise<RunningServer> {
  const { startServer } = await import('../server.ts')
  return startServer(config, log)
}

/** After a fault nothing in memory can be trusted; what was acknowledged is on disk, and a restart takes a second. */
function leaveOnFault(log: Log): void {
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception')
    process.exit(exitCodes.fault)
  })
}

/** A signal that comes while the server is starting stops it once it has started. */
function stopOnSignal(starting: Promise<RunningServer>, log: Log): void {
  let state: 'running' | 'stopping' = 'running'
  const stop = async (signal: string): Promise<void> => {
    if (state === 'stopping') return
    state = 'stopping'
    log.info({ signal }, 'stopping')
    // A failed start is told by whoever started.
    const server = await starting.catch(() => null)
    if (server === null) return
    await server.close()
    log.info('stopped')
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
}

const noticeAsJson = ({ credentials, port }: RunningServer): string =>
  JSON.stringify({ port, ...credentials, jwtSecret: undefined })

/** What the first start says, once. */
function firstStartNotice({ credentials, port }: RunningServer, config: Config): string {
  const { apiKey, authToken } = credentials
  const kept =
    config.engine === 'memory'
      ? 'Gone when the process ends.'
      : `Kept in ${credentialsPath(config.data)} (mode 0600).`
  return `
Weft has made credentials. They are printed this once.

${credentialLines(credentials)}

${kept}

Console and a shared editor to try: ${consoleLink(config, port, credentials)}

Or try:

  curl http://localhost:${port}/v2/crdt/add \\
    -H 'x-service-api-key: ${apiKey}' \\
    -H 'x-service-auth-token: ${authToken}' \\
    -H 'content-type: application/json' \\
    -d '{"data":{"organizationId":"acme","documentId":"notes","editorId":"main","type":"text","data":"Hello"}}'
`
}
