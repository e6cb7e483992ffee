import { InvalidArgumentError } from 'commander'
import { idProblem } from '../../core/model/address.ts'

/** Returns a text that is a valid id. @throws InvalidArgumentError */
export function parseIdOption(id: string): string {
  const problem = idProblem(id)
  if (problem !== null) throw new InvalidArgumentError(`It ${problem}.`)
  return id
}
