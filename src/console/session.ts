import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Credentials } from './credentials.ts'

/** Takes other credentials from now on. */
export const EnterContext = createContext<(credentials: Credentials) => void>(() => {})

export const useEnter = (): ((credentials: Credentials) => void) => useContext(EnterContext)
