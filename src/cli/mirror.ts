import { Command, InvalidArgumentError, Option } from 'commander'
import { restCredentialsOf } from '../directory/tenants/known-credentials.ts'
import type { NameFlags } from '../mirror/mirrored-names.ts'
import type { DialectName } from '../mirror/source-protocols.ts'
import { readTokenFile } from '../storage/backup-sources.ts'
import { configOf, withConfigFlags } from './command-line/command-io.ts'
import { exitCodes } from './command-line/run-command.ts'

const dialects: Readonly<Record<DialectName, true>> = { 'y-websocket': true, hocuspocus: true }

interface Flags extends NameFlags {
  readonly to: URL
  readonly dialect: DialectName
  readonly token?: string
  readonly tokenFile?: string
  readonly parallel: number
  readonly check: number
  readonly once?: true
  readonly json?: true
}

/** Creates the command `weft mirror`. Its exit code is 1 if a document is not in sync at the end. */
export function mirrorCommand(): Command {
  return withConfigFlags(new Command('mirror'))
    .description(
      'Keep documents of a running Weft server up to date with another running server. It never writes to the other server.',
    )
    .argument('<url>', 'The other server, such as ws://old:1234.', checkedUrl(['ws:', 'wss:']))
    .requiredOption('--documents <file>', 'File with one document name per line; - is standard input.')
    .requiredOption(
      '--to <url>',
      'The running Weft server, such as ws://localhost:8787.',
      checkedUrl(['ws:', 'wss:', 'http:', 'https:']),
    )
    .addOption(
      new Option('--dialect <dialect>', 'Protocol of the other server.')
        .choices(Object.keys(dialects))
        .default('y-websocket'),
    )
    .option('--token <token>', 'Token for the other server.')
    .addOption(
      new Option(
        '--token-file <file>',
        'File with the token; a list of processes does not show it.',
      ).conflicts('token'),
    )
    .option('--organization <id>', 'Organization for names that are not organization/document/editor.')
    .option('--editor <id>', 'Editor for names that are not organization/document/editor.', 'main')
    .option(
      '--name-map <file>',
      'JSON lines {name, organizationId, documentId, editorId} with the target of single names.',
    )
    .option(
      '--parallel <count>',
      'Number of documents that are opened at the same time.',
      checkedNumber(1, 1000),
      50,
    )
    .option('--check <seconds>', 'Seconds between two comparisons of a document.', checkedNumber(1, 45), 20)
    .option('--once', 'Bring all documents up to date, and exit.')
    .action((url: URL, flags: Flags) => mirror(url, flags))
}

/**
 * Runs a mirror. Loads the code of the mirror only when it is needed, because the server does not need it.
 */
async function mirror(url: URL, flags: Flags): Promise<void> {
  const { to, dialect, tokenFile } = flags
  const token = tokenFile === undefined ? (flags.token ?? null) : await readTokenFile(tokenFile)
  const { config } = configOf({ ...flags })
  const { runMirror } = await import('../mirror/main.ts')
  const isInSync = await runMirror({
    names: flags,
    source: { url, dialect, token },
    target: {
      url: to,
      messageBytesMax: config.maxMessageBytes,
      ...(await restCredentialsOf(config)),
    },
    parallel: flags.parallel,
    checkEveryMs: flags.check * 1000,
    until: flags.once ? 'once' : 'follow',
    report: flags.json ? 'json' : 'text',
  })
  // Exits explicitly, because connections that do not close would keep the process alive.
  process.exit(isInSync ? 0 : exitCodes.fault)
}

function checkedUrl(protocols: readonly string[]): (text: string) => URL {
  return (text) => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol))
      throw new InvalidArgumentError(`Expected a URL that starts with ${protocols.join(' or ')}//.`)
    const url = new URL(text)
    if (url.hash !== '') throw new InvalidArgumentError('Expected a URL without #.')
    return url
  }
}

function checkedNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`)
    return value
  }
}
