import { Command } from 'commander'
import { fail, type Judged, ok } from '../../capabilities/backups/storage/finding.ts'
import { checkUpgrade } from '../../capabilities/backups/storage/upgrade-check.ts'
import { systemClock } from '../../core/base/clock.ts'
import { didYouMean } from '../../core/base/text.ts'
import { optionKeys } from '../../core/config/config.ts'
import { listUnknown, unknownVariables } from '../../core/config/variables.ts'
import { configOf, withConfigFlags } from '../command-line/command-io.ts'
import { printFindings } from './doctor.ts'

/**
 * Creates the command `weft upgrade`. Its exit code is 1 if a check fails. Unlike other commands, it reports
 * unknown options together with the other results: a new version may have removed an option.
 */
export function upgradeCommand(): Command {
  return withConfigFlags(new Command('upgrade'))
    .description('Check whether this version can replace the version that uses the configured store.')
    .requiredOption('--check', 'Check, and change nothing.')
    .option('--url <url>', 'Also compare with the version of the server at this URL.')
    .action(async ({ url, ...flags }: { readonly json?: true; readonly url?: string }) => {
      const { config, unknown } = configOf({ ...flags }, 'ignore')
      const options = { name: 'options', ...knownOptions(unknown, unknownVariables(process.env)) }
      const findings = await checkUpgrade({ config, clock: systemClock, url: url ?? null })
      printFindings([options, ...findings], flags.json)
    })
}

function knownOptions(inFile: readonly string[], variables: readonly string[]): Judged {
  const names = inFile.map((name) => `"${name}" in the configuration file${didYouMean(name, optionKeys)}`)
  const unknown = [...names, ...(variables.length === 0 ? [] : [listUnknown(variables)])]
  if (unknown.length === 0) return ok('this version knows all options of the configuration')
  return fail(
    `this version does not know ${unknown.join(', ')}`,
    'remove or rename them; CHANGELOG.md lists the options that a version has removed',
  )
}
