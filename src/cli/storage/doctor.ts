import { Command } from 'commander'
import { injectedVariables } from '../../config/variables.ts'
import { examine, type Finding } from '../../storage/doctor.ts'
import { configOf, printResult, withConfigFlags } from '../command-line/command-io.ts'
import { exitCodes } from '../command-line/run-command.ts'

/** Creates the command `weft doctor`. Its exit code is 1 if a check fails. */
export function doctorCommand(): Command {
  return withConfigFlags(new Command('doctor'))
    .description('Check the configuration and the environment, and suggest fixes.')
    .action(async (flags: { json?: true }) => {
      const { config } = configOf(flags)
      const found = [configured(), ...(await examine(config))]
      const ok = found.every(({ verdict }) => verdict !== 'fail')
      printResult(flags.json ? JSON.stringify({ ok, findings: found }) : found.map(asText).join('\n'))
      if (!ok) process.exitCode = exitCodes.fault
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

const asText = ({ name, verdict, found, help }: Finding): string =>
  `${verdict.padEnd(5)} ${name}: ${found}${help === '' ? '' : `\n      ${help}`}`
