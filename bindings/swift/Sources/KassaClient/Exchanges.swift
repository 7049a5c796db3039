import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A response. It can repeat the request's secrets.
struct Response: Sendable {
    let httpStatus: Int
    let location: String
    let retryAfter: Duration?
    let body: Data
}

/// Why there is no response.
enum ExchangeError: Error {
    /// The connection failed.
    case connection(URLError)
    /// The response is larger than any of kassa-server's.
    case tooLarge(httpStatus: Int)
    /// The session was closed.
    case closed
}

/// Sends single requests. It follows no redirect, which would take the key along, and keeps no cookies and no cache.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
final class Exchanges: NSObject, @unchecked Sendable {
    /// A page of 1,000 events has about one million bytes.
    private static let maxResponseBytes = 32 * 1024 * 1024

    private let lock = NSLock()
    private var session: URLSession?
    private var running: [Int: Exchange] = [:]

    private struct Exchange {
        let ended: CheckedContinuation<Response, any Error>
        var response: HTTPURLResponse?
        var body = Data()
    }

    override init() {
        super.init()
        let settings = URLSessionConfiguration.ephemeral
        settings.httpCookieStorage = nil
        settings.httpShouldSetCookies = false
        settings.urlCache = nil
        settings.urlCredentialStorage = nil
        settings.requestCachePolicy = .reloadIgnoringLocalCacheData
        // Some wait a minute for a change.
        settings.httpMaximumConnectionsPerHost = 64
        #if canImport(Darwin)
            settings.connectionProxyDictionary = [:]
        #endif
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: settings, delegate: self, delegateQueue: queue)
    }

    /// Sends a request once. It ends at once, with a `CancellationError`, when its task is cancelled.
    func send(_ request: URLRequest) async throws -> Response {
        let task = try lock.withLock {
            guard let session else { throw ExchangeError.closed }
            return session.dataTask(with: request)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { ended in
                // A task that was cancelled before finds no exchange to end.
                lock.withLock { running[task.taskIdentifier] = Exchange(ended: ended) }
                if Task.isCancelled { return cancel(task) }
                task.resume()
            }
        } onCancel: {
            cancel(task)
        }
    }

    /// Ends what is running, and closes the connections.
    func close() {
        let (closed, ended) = lock.withLock {
            defer {
                session = nil
                running = [:]
            }
            return (session, running.values.map(\.ended))
        }
        closed?.invalidateAndCancel()
        for each in ended { each.resume(throwing: ExchangeError.closed) }
    }

    private func cancel(_ task: URLSessionTask) {
        end(task) { _ in .failure(CancellationError()) }
        task.cancel()
    }

    private func end(_ task: URLSessionTask, _ result: (Exchange) -> Result<Response, any Error>) {
        guard let exchange = lock.withLock({ running.removeValue(forKey: task.taskIdentifier) }) else { return }
        exchange.ended.resume(with: result(exchange))
    }
}

extension Exchanges: URLSessionDataDelegate {
    func urlSession(
        _: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        lock.withLock { running[dataTask.taskIdentifier]?.response = response as? HTTPURLResponse }
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let size = lock.withLock { () -> Int in
            running[dataTask.taskIdentifier]?.body += data
            return running[dataTask.taskIdentifier]?.body.count ?? 0
        }
        guard size > Self.maxResponseBytes else { return }
        end(dataTask) { .failure(ExchangeError.tooLarge(httpStatus: $0.response?.statusCode ?? 0)) }
        dataTask.cancel()
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task) { exchange in
            if let error {
                return .failure(ExchangeError.connection(error as? URLError ?? URLError(.unknown)))
            }
            guard let response = exchange.response ?? task.response as? HTTPURLResponse else {
                return .failure(ExchangeError.connection(URLError(.badServerResponse)))
            }
            let seconds = response.value(forHTTPHeaderField: "Retry-After").flatMap { $0.wholeMatch(of: #/[0-9]{1,9}/#) }
            return .success(
                Response(
                    httpStatus: response.statusCode, location: response.value(forHTTPHeaderField: "Location") ?? "",
                    retryAfter: seconds.flatMap { Int64($0.0) }.map { .seconds($0) }, body: exchange.body))
        }
    }

    #if !canImport(Darwin)
        /// A 401 with `WWW-Authenticate: Basic`, which kassa-server does not send. By itself URLSession of Linux would never end it.
        func urlSession(
            _: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            end(task) { exchange in
                let response = exchange.response ?? challenge.failureResponse as? HTTPURLResponse
                return .success(
                    Response(httpStatus: response?.statusCode ?? 401, location: "", retryAfter: nil, body: exchange.body))
            }
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    #endif

    func urlSession(
        _: URLSession, task: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse, newRequest _: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
