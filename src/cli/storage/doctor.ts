import { Command } from 'commander'
import { examine } from '../../capabilities/backups/storage/doctor.ts'
import type { Finding } from '../../capabilities/backups/storage/finding.ts'
import { injectedVariables } from '../../core/config/variables.ts'
import { configOf, printResult, withConfigFlags } from '../command-line/command-io.ts'
import { exitCodes } from '../command-line/run-command.ts'

/** Creates the command `weft doctor`. Its exit code is 1 if a check fails. */
export function doctorCommand(): Command {
  return withConfigFlags(new Command('doctor'))
    .description('Check the configuration and the environment, and suggest fixes.')
    .action(async (flags: { json?: true }) => {
      const { config } = configOf(flags)
      printFindings([configured(), ...(await examine(config))], flags.json)
    })
}

/**
 * Returns the finding for the configuration. The configuration is valid at this point, because an invalid
 * configuration ends the command earlier.
 */
function configured(): Finding {
  const skipped = injectedVariables(process.env)
  const found = skipped.length === 0 ? 'can be used' : `can be used; Weft ignores ${skipped.join(', ')}`
  return { name: 'configuration', verdict: 'ok', found, help: '' }
}

/** Prints the results of checks. The exit code is 1 if a check fails. */
export function printFindings(findings: readonly Finding[], json: true | undefined): void {
  const ok = findings.every(({ verdict }) => verdict !== 'fail')
  printResult(json ? JSON.stringify({ ok, findings }) : findings.map(asText).join('\n'))
  if (!ok) process.exitCode = exitCodes.fault
}

const asText = ({ name, verdict, found, help }: Finding): string =>
  `${verdict.padEnd(5)} ${name}: ${found}${help === '' ? '' : `\n      ${help}`}`
