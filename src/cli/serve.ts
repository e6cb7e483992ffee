import { Command } from 'commander'
import { createLog, type Log } from '../core/base/log.ts'
import { readPackageVersion } from '../core/base/package-version.ts'
import { withoutTrailing } from '../core/base/text.ts'
import type { Config } from '../core/config/config.ts'
import { isLoopbackHost, localUrlAt } from '../core/config/public-url.ts'
import { readConfig } from '../core/config/read-config.ts'
import { injectedVariables, misspelledVariables } from '../core/config/variables.ts'
import { credentialsPath, type ServerCredentials } from '../core/directory/tenants/credentials-file.ts'
import type { RunningServer } from '../server/server.ts'
import {
  configOf,
  credentialLines,
  printResult,
  programName,
  withConfigFlags,
} from './command-line/command-io.ts'
import { exitCodes } from './command-line/run-command.ts'
import { consoleLink } from './console.ts'
import { endWithParent } from './end-with-parent.ts'

/** Creates the command `weft serve`, which is also the default command of `weft`. */
export function serveCommand(): Command {
  return withConfigFlags(new Command('serve'))
    .description('Serve documents.')
    .action(async (flags: { json?: true }) => {
      const { config } = configOf(flags)
      const log = createLog(config.logLevel, isTerminal() ? 'text' : 'json')
      const variables = injectedVariables(process.env)
      if (variables.length > 0)
        log.info(
          { variables },
          'the server ignores variables that an orchestrator has set for its own purpose',
        )
      for (const { name, meant } of misspelledVariables(process.env))
        log.warn({ variable: name }, `the variable configures nothing (did you mean ${meant}?)`)
      leaveOnFault(log)
      passOverUnwritten()
      // A signal to `npx` ends only the shell in which it runs this program.
      if (process.env.npm_lifecycle_event === 'npx') endWithParent()
      const starting = start(config, log)
      stopOnSignal(starting, log)
      const server = await starting
      announce(server, config, flags)
      log.info({ port: server.port, host: config.host, engine: config.engine }, 'listening')
      if (config.defaultAccess === 'public' && !isLoopbackHost(config.host)) log.warn(publicAndReachable)
      // Logs the command that prints the link, and never the link itself, because other people may read
      // stored logs.
      if (!server.created && !isTerminal())
        log.info({ port: server.port }, `\`${consoleCall(server, config)}\` prints the link to the console`)
    })
}

const publicAndReachable =
  'other machines can connect, and each token without permissions opens all documents, because they are public; ' +
  'WEFT_DEFAULT_ACCESS=restricted makes new documents restricted, and WEFT_HOST=127.0.0.1 admits only this machine'

/**
 * Starts the server. Loads the code of the server only for this command, so that other commands start faster.
 */
async function start(config: Config, log: Log): Promise<RunningServer> {
  const { startServer } = await import('../server/server.ts')
  return startServer(config, log)
}

/**
 * Ends the process after a fault, because its state in memory may be wrong. Acknowledged changes are on disk,
 * and a restart takes a second.
 */
function leaveOnFault(log: Log): void {
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception')
    process.exit(exitCodes.fault)
  })
}

/** Ignores errors of the output, such as a full disk below the log: the documents do not depend on it. */
function passOverUnwritten(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    stream.on('error', () => undefined)
  }
}

/** Stops the server on a signal. If the signal arrives during the start, the server stops after the start. */
function stopOnSignal(starting: Promise<RunningServer>, log: Log): void {
  let state: 'running' | 'stopping' = 'running'
  const stop = async (signal: string): Promise<void> => {
    if (state === 'stopping') return
    state = 'stopping'
    log.info({ signal }, 'stopping')
    // Ignores an error of the start, because the caller of the start reports it.
    const server = await starting.catch(() => null)
    if (server === null) return
    await server.close()
    log.info('stopped')
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
}

/**
 * Returns whether the output is a terminal. Other output is a log that is stored and that other people read.
 */
const isTerminal = (): boolean => process.stdout.isTTY

/**
 * If the output is a terminal, prints the address of the server and how to use it, at every start. The
 * credentials of the first start are printed only to a terminal, or if `--json` requests them. Other output
 * is a log, which gets the name of the file with the credentials. The memory engine has no such file, and its
 * credentials end with the process.
 */
function announce(running: RunningServer, config: Config, flags: { readonly json?: true }): void {
  const { created } = running
  const server = { ...running, credentials: printable(running, config) }
  if (flags.json) return created ? printResult(noticeAsJson(server)) : undefined
  if (isTerminal() || (created && config.engine === 'memory')) return printResult(welcome(server, config))
  if (created)
    printResult(`Weft created credentials in ${credentialsPath(config.dataDir)} (mode 0600).
\`${consoleCall(server, config)}\` prints the link to the console. It signs in with all credentials, also the admin token.`)
}

/** Returns the credentials without the admin token if it is configured: the operator has it, and the output may be stored. */
const printable = ({ credentials }: RunningServer, config: Config): ServerCredentials =>
  config.adminToken === null ? credentials : { ...credentials, adminToken: undefined }

/** Returns the command that prints the link to the console, in another shell in the folder of this process. */
function consoleCall({ port }: RunningServer, { dataDir }: Config): string {
  const { config: usual } = readConfig({ flags: {}, environment: {}, file: null, unknown: 'ignore' })
  const flags = [
    port === usual.port ? '' : ` --port ${port}`,
    dataDir === usual.dataDir ? '' : ` --data-dir ${quoted(dataDir)}`,
  ]
  return `${programName} console${flags.join('')}`
}

const noticeAsJson = ({ credentials, port }: RunningServer): string =>
  JSON.stringify({ port, ...credentials, jwtSecret: undefined })

function welcome({ credentials, port, created }: RunningServer, config: Config): string {
  const { apiKey, authToken } = credentials
  const url = withoutTrailing('/', config.publicUrl ?? localUrlAt(config.host, port))
  return `
Weft ${readPackageVersion()} serves at ${url}
${created ? newCredentials(credentials, config) : ''}
Console and a shared editor to try: ${consoleLink({ publicUrl: url }, port, credentials)}
Documentation: ${url}/docs

Or try:

  curl ${url}/v2/crdt/update \\
    -H ${quoted(`x-service-api-key: ${apiKey}`)} \\
    -H ${quoted(`x-service-auth-token: ${authToken}`)} \\
    -H 'content-type: application/json' \\
    -d '{"data":{"organizationId":"acme","documentId":"notes","editorId":"main","type":"text","data":"Hello","upsert":true}}'
`
}

const newCredentials = (credentials: ServerCredentials, { engine, dataDir }: Config): string => `
Weft created credentials.

${credentialLines(credentials)}

${engine === 'memory' ? 'Gone when the process ends.' : `Kept in ${credentialsPath(dataDir)} (mode 0600).`}
`

/** Quotes a word for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
