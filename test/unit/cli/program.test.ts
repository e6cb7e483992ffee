import type { Command } from 'commander'
import { expect, it } from 'vitest'
import { createProgram } from '../../../src/cli/program.ts'

/** Commands that do something, with their names. */
function doing(command: Command, names: readonly string[] = []): readonly [string, Command][] {
  if (command.commands.length === 0) return [[names.join(' '), command]]
  return command.commands.flatMap((each) => doing(each, [...names, each.name()]))
}

it('[CMD-5] every command except `mcp` has --json, and every command has a description', () => {
  const all = doing(createProgram())
  expect(all.length).toBeGreaterThan(20)
  const without = all.filter(([, { options }]) => !options.some(({ long }) => long === '--json'))
  // Its output is for a machine already.
  expect(without.map(([name]) => name)).toEqual(['mcp'])
  expect(all.filter(([, command]) => !/^[A-Z].*\.$/.test(command.description()))).toEqual([])
})

it('[CMD-8] has at most 30 commands, whose help has at most 40 lines', () => {
  const all = doing(createProgram())
  expect(all.length).toBeLessThanOrEqual(30)
  const linesOf = (command: Command): number => command.helpInformation().split('\n').length
  expect(all.filter(([, command]) => linesOf(command) > 40).map(([name]) => name)).toEqual([])
})

it('[CMD-8] groups the commands in the help, and shows only examples that use existing commands', () => {
  const program = createProgram()
  let help = ''
  program.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
  for (const group of ['Serve', 'Documents:', 'Stored data:', 'Others:', 'Examples:'])
    expect(help).toContain(`\n${group}`)
  const named = [...help.matchAll(/^ {2}weft (\w+)/gm)].map(([, name]) => name)
  const names = program.commands.map((each) => each.name())
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((name) => !names.includes(name ?? ''))).toEqual([])
})
