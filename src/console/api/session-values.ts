import { useState } from 'preact/hooks'

/** Values that the user has selected in this tab, by name. All pages of the console use them. */
type SessionValues = Readonly<Record<string, string | undefined>>

const place = 'weft-values'

export const sessionValues = (): SessionValues => JSON.parse(sessionStorage.getItem(place) ?? '{}')

/** Keeps values for other pages and for a reload. A value that is undefined is forgotten. */
export const keepValues = (values: SessionValues): void =>
  sessionStorage.setItem(place, JSON.stringify({ ...sessionValues(), ...values }))

/** Must be called when the API key changes, because another API key has other organizations. */
export const forgetValues = (): void => sessionStorage.removeItem(place)

/** Returns a value and the function that changes it. @param options all possible values; the first one is the default */
export function useSessionValue<Value extends string>(
  name: string,
  options: readonly Value[],
): readonly [Value | undefined, (value: Value) => void] {
  const [value, setValue] = useState(sessionValues()[name])
  const change = (changed: Value) => {
    keepValues({ [name]: changed })
    setValue(changed)
  }
  return [options.find((each) => each === value) ?? options[0], change]
}
