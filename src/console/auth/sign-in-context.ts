import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ConsoleCredentials } from './credentials.ts'

/** Uses other credentials from now on. */
export const SignInContext = createContext<(credentials: ConsoleCredentials) => void>(() => {})

export const useSignIn = (): ((credentials: ConsoleCredentials) => void) => useContext(SignInContext)
