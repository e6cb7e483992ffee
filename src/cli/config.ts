import { Argument, Command } from 'commander'
import { escapeControls } from '../core/base/text.ts'
import { configAsJson, renderConfig, renderMarkdown } from '../core/config/render-config.ts'
import { injectedVariables, misspelledVariables } from '../core/config/variables.ts'
import { configOf, printResult, withConfigFlags } from './command-line/command-io.ts'

const actions = ['print', 'check'] as const

interface Flags {
  readonly json?: true
  readonly markdown?: true
}

/** Creates the command `weft config`, which prints or checks the configuration. */
export const configCommand = (): Command =>
  withConfigFlags(new Command('config'))
    .description('Print every option with its value and source, without secrets; or only check them.')
    .addArgument(
      new Argument('[action]', 'With check, the exit code is 2 if the configuration is invalid.')
        .choices(actions)
        .default('print'),
    )
    .option('--markdown', 'Print the table of all options instead.')
    .action((action: (typeof actions)[number], flags: Flags) =>
      action === 'check' ? check(flags) : print(flags),
    )

function print(flags: Flags): void {
  if (flags.markdown) return printResult(renderMarkdown())
  const read = configOf({ ...flags })
  printResult(flags.json ? JSON.stringify(configAsJson(read)) : renderConfig(read))
}

function check(flags: Flags): void {
  configOf({ ...flags })
  const skipped = injectedVariables(process.env)
  const misspelled = misspelledVariables(process.env)
  if (flags.json)
    return printResult(
      JSON.stringify({ ok: true, skippedVariables: skipped, misspelledVariables: misspelled }),
    )
  for (const name of skipped) printResult(`${name} describes a service of an orchestrator and is skipped`)
  for (const { name, meant } of misspelled)
    printResult(escapeControls(`${name} configures nothing (did you mean ${meant}?)`))
  printResult('the configuration is valid')
}
