#!/bin/sh
# A checkout with curl only: the shop opens it, the payer's app pays it by mobile bank, and the shop learns that it is paid.
# usage: checkout.sh ORDER PHONE    asks for the code from the message; with KASSA_SERVER_URL and KASSA_API_KEY
set -eu
order=$1
phone=$2

# docs: begin request
# Sends a request. The key is not an argument of curl, because every user of the machine can read arguments.
# usage: request KEY PATH [CURL ARGUMENT...]
request() (
    key=$1
    path=$2
    shift 2
    answer=$(printf 'header = "Authorization: Bearer %s"\n' "$key" |
        curl --silent --show-error --fail-with-body --config - "$@" "$KASSA_SERVER_URL$path") || {
        printf '%s\n' "$answer" >&2 # a refusal says which field breaks which rule
        exit 1
    }
    printf '%s\n' "$answer"
)

# Prints the first match in a response. If you have jq, use it instead.
first() { printf '%s\n' "$2" | grep -o "$1" | sed -n '1{p;q;}' | grep .; }
# docs: end request

# docs: begin open
# The shop opens the checkout. The same reference with the same content returns the same checkout, however often you send it.
wanted='{"reference": "'$order'", "amount": "390", "description": "A jar of honey", "return_url": "https://shop.example.kg/paid"}'
checkout=$(request "$KASSA_API_KEY" /v1/checkouts --header 'Content-Type: application/json' --data "$wanted")
id=$(first 'co_[0-9a-f]*' "$checkout")
first '"page_url":"[^"]*"' "$checkout" # a browser pays there, and needs nothing of what follows
# docs: end open

# docs: begin pay
# The shop makes a token for its app. It opens only this checkout.
answer=$(request "$KASSA_API_KEY" "/v1/checkouts/$id/tokens" --request POST)
token=$(first 'ct_[^"]*' "$answer")

# The app starts a payment. The same Idempotency-Key with the same body returns the same response: a retry pays nothing twice.
answer=$(request "$token" /v1/checkout/payments --header "Idempotency-Key: $order-1" \
    --header 'Content-Type: application/json' --data '{"method": "mbank", "phone": "'"$phone"'"}')
payment=$(first 'pay_[0-9a-f]*' "$answer")

# While the payment still expects a code, the last one was wrong. Each code is a separate attempt with its own key.
try=1
state=awaiting
while [ "$state" = awaiting ]; do
    printf 'The code from the SMS? '
    read -r otp
    answer=$(request "$token" "/v1/checkout/payments/$payment/confirm" --header "Idempotency-Key: $order-otp-$try" \
        --header 'Content-Type: application/json' --data '{"otp": "'"$otp"'"}')
    state=$(first '"state":"[a-z_]*"' "$answer" | cut -d '"' -f 4)
    try=$((try + 1))
done
# docs: end pay

# docs: begin wait
# A long poll returns as soon as something has changed. A shop with a public URL receives an event instead.
version=0
state=open
while [ "$state" = open ]; do
    checkout=$(request "$KASSA_API_KEY" "/v1/checkouts/$id?after=$version&wait=25")
    version=$(first '"version":[0-9]*' "$checkout" | cut -d : -f 2)
    # The checkout stays open after a failed payment: the payer can choose another method.
    case $checkout in
        *'"state":"paid"'*) state=paid ;;
        *'"state":"expired"'* | *'"state":"cancelled"'*) state='not paid' ;;
        *'"state":"rejected"'*) state='not paid yet: the payment was rejected' ;;
    esac
done
echo "$state" # paid: deliver
# docs: end wait
