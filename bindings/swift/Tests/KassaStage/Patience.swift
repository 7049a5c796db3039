import Foundation

/// The upper bound of a wait, in seconds. The environment variable `KASSA_PATIENCE` multiplies it on a slow machine.
package let patience: TimeInterval = 60 * (ProcessInfo.processInfo.environment["KASSA_PATIENCE"].map { Double($0)! } ?? 1)
