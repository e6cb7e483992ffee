import { systemClock } from '../clock.ts'
import { Mirror } from './mirror.ts'
import { MirrorClient } from './mirror-client.ts'
import { mirroredNames, type NameFlags } from './mirrored-names.ts'
import { MirrorReport } from './report.ts'
import { type DialectName, sourceProtocols } from './source-protocols.ts'

export interface MirrorRunOptions {
  readonly names: NameFlags
  /** The old server. `token` is null if this server requires no token. */
  readonly source: { readonly url: URL; readonly dialect: DialectName; readonly token: string | null }
  /** The running Weft server. */
  readonly target: {
    readonly url: URL
    readonly apiKey: string
    readonly authToken: string
    readonly messageBytesMax: number
  }
  /** Maximum number of documents that are being connected at the same time. */
  readonly parallel: number
  /** Interval in ms between two comparisons of a document. */
  readonly checkEveryMs: number
  /**
   * Condition for the end of the mirror. `follow`: the process gets SIGINT or SIGTERM. `once`: all documents
   * are up to date.
   */
  readonly until: 'follow' | 'once'
  readonly report: 'text' | 'json'
}

/**
 * Runs a mirror. This function is the entry point of the folder. Returns whether all documents are in sync at
 * the end. Connections that the other side does not close may then still be open.
 * @throws ConfigError, MirrorRejectedError
 */
export async function runMirror(options: MirrorRunOptions): Promise<boolean> {
  const { source, target, parallel, checkEveryMs } = options
  const dialect = sourceProtocols[source.dialect]
  const names = await mirroredNames(options.names, dialect)
  const weft = new MirrorClient(target, systemClock)
  await weft.tryCredentials()
  const report = new MirrorReport(options.report)
  const mirror = new Mirror({
    names,
    old: { ...source, dialect },
    weft,
    parallel,
    checkEveryMs,
    changed: (document) => report.changed(document),
  })
  listen(mirror, report)
  report.start(mirror)
  await mirror.run(options.until)
  return report.end(mirror)
}

function listen(mirror: Mirror, report: MirrorReport): void {
  const stop = (): void => mirror.stop()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  process.on('SIGUSR2', () => {
    mirror.check().then(
      () => report.documents(mirror),
      () => undefined,
    )
  })
}
