import { Command } from 'commander'
import { escapeControls } from '../core/base/text.ts'
import { configAsJson, renderConfig, renderMarkdown } from '../core/config/render-config.ts'
import { injectedVariables, misspelledVariables } from '../core/config/variables.ts'
import { configOf, printResult, withConfigFlags } from './command-line/command-io.ts'

/** Creates the commands `weft config print` and `weft config check`. */
export function configCommand(): Command {
  const command = new Command('config').description('Show or check the configuration.')
  command.addCommand(printCommand())
  return command.addCommand(checkCommand())
}

function printCommand(): Command {
  return withConfigFlags(new Command('print'))
    .description('Print every option with its value and the source of the value; secrets are hidden.')
    .option('--markdown', 'Print the table of all options instead.')
    .action((flags: { json?: true; markdown?: true }) => {
      if (flags.markdown) return printResult(renderMarkdown())
      const read = configOf(flags)
      printResult(flags.json ? JSON.stringify(configAsJson(read)) : renderConfig(read))
    })
}

function checkCommand(): Command {
  return withConfigFlags(new Command('check'))
    .description('Check the configuration; exit code 2 and an error message if it is invalid.')
    .action((flags: { json?: true }) => {
      configOf(flags)
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
    })
}
